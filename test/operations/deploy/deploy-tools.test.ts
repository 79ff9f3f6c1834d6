import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// The files of deploy/, as the tools read them that use them.

const deploy = join(projectRoot, 'deploy');
const readText = (path: string) => readFileSync(join(deploy, path), 'utf8');
const OPTIONAL = readdirSync(join(deploy, 'optional'));
/** The highest exposure that `systemd-analyze security` may report, times ten. */
const MAX_EXPOSURE = 20;

afterAll(removeFolders);

/** Runs a program and returns its output. Throws if it fails. */
function outputOf(command: string, args: string[], env: Record<string, string> = {}, cwd = deploy): string {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    env: { PATH, HOME, ...env },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

/** Declares a test that is skipped, with the reason in its title, if none of the programs is installed. */
function testWith(names: string[], title: string, run: (program: string) => void | Promise<void>): void {
  const program = findProgram(...names);
  (program ? test : test.skip)(titleWith(title, [program ? undefined : names.join(' or ')]), () =>
    run(program ?? ''),
  );
}

describe('systemd', () => {
  testWith(['systemd-analyze'], 'accepts the optional secrets', async (program) => {
    const folder = await makeFolder();
    for (const unit of ['crossdock-api@.service', 'crossdock-worker.service']) {
      await mkdir(join(folder, `${unit}.d`));
      await copyFile(join(deploy, 'systemd', unit), join(folder, unit));
      for (const name of OPTIONAL)
        await copyFile(
          join(deploy, 'optional', name, `${name}.conf`),
          join(folder, `${unit}.d`, `${name}.conf`),
        );
      const messages = outputOf(program, ['verify', '--man=no', join(folder, unit)]).split('\n');
      expect(messages.filter((line) => line.includes('crossdock'))).toEqual([]);
    }
  });

  const units = ['systemd', 'print-bridge'].flatMap((folder) =>
    readdirSync(join(deploy, folder))
      .filter((name) => name.endsWith('.service'))
      .map((name) => join(deploy, folder, name)),
  );

  testWith(['systemd-analyze'], `rates each unit below ${MAX_EXPOSURE / 10} and accepts it`, (program) => {
    expect(units).toHaveLength(4);
    for (const path of units) {
      outputOf(program, ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, path]);
      const messages = outputOf(program, ['verify', '--man=no', path]).split('\n');
      expect(messages.filter((line) => line.includes('crossdock'))).toEqual([]);
    }
  });
});

describe('haproxy', () => {
  testWith(['haproxy'], 'accepts both configurations', async (program) => {
    const folder = await makeFolder();
    const pem = join(folder, 'tls.pem');
    const [key, certificate] = ['localhost-key.pem', 'localhost.pem'].map((name) =>
      join(projectRoot, 'test/support/receivers', name),
    );
    outputOf('sh', ['-c', `cat ${certificate} ${key} > ${pem}`]);
    const env = { HTTP_BIND: '127.0.0.1:8080', HTTPS_BIND: '127.0.0.1:8443', TLS_PEM: pem };
    for (const backend of ['20-compose.cfg', '20-host.cfg'])
      outputOf(program, ['-c', '-f', '10-frontend.cfg', '-f', backend], env, join(deploy, 'proxy'));
  });
});

describe('compose', () => {
  const title = 'accepts the file and merges its parts';
  const found = findProgram('podman-compose', 'docker-compose');
  // podman-compose 1.0 has no command "config".
  const program = found && outputOf(found, ['--help']).includes('config') ? found : undefined;
  const missing = program ? undefined : 'podman-compose or docker-compose with "config"';
  (program ? test : test.skip)(titleWith(title, [missing]), () => {
    if (!program) return;
    const env = { CROSSDOCK_ENVIRONMENT: 'staging', CROSSDOCK_VERSION: '1.2.3' };
    const text = outputOf(program, ['-f', 'compose.yaml', 'config'], env, join(deploy, 'compose'));
    expect(text).toContain('localhost/crossdock:1.2.3');
    for (const name of OPTIONAL) {
      const files = ['compose.yaml', `../optional/${name}/compose.yaml`].flatMap((file) => ['-f', file]);
      const merged = outputOf(program, [...files, 'config'], env, join(deploy, 'compose'));
      expect(merged).toContain('ENCRYPTION_KEYS');
      const [secret = ''] = /[A-Z_]+(?=\])/.exec(readText(`optional/${name}/compose.yaml`)) ?? [];
      // In the service, as the name of the secret, and in its file.
      expect(merged.split(secret).length).toBeGreaterThan(3);
    }
  });
});

type Container = { securityContext: unknown; resources: unknown };
type Volume = { projected?: { sources: { secret: { optional?: boolean; items: unknown[] } }[] } };
type Pod = {
  securityContext: unknown;
  automountServiceAccountToken: boolean;
  containers: Container[];
  volumes: Volume[];
};
type Resource = { kind: string; spec?: { template?: { spec?: Pod } } };

describe('helm', () => {
  const chart = join(deploy, 'helm', 'crossdock');

  const render = (program: string, name: string, ...more: string[]): Resource[] =>
    parseAllDocuments(
      outputOf(program, [
        'template',
        'crossdock',
        chart,
        '--kube-version',
        '1.33.0',
        '-f',
        join(chart, `values.${name}.yaml`),
        ...more,
      ]),
    )
      .map((document): Resource => {
        if ('errors' in document) expect(document.errors).toEqual([]);
        return document.toJS();
      })
      .filter(Boolean);

  testWith(['helm'], 'the chart does not render without the values of an environment', (program) => {
    const required = 'settings.APP_ENV must be staging or production';
    const refused =
      (...more: string[]) =>
      () =>
        outputOf(program, ['template', 'crossdock', chart, '--kube-version', '1.33.0', ...more]);
    expect(refused()).toThrow(required);
    expect(refused('--set', 'settings.APP_ENV=development')).toThrow(required);
    const staging = ['-f', join(chart, 'values.staging.yaml')];
    expect(refused(...staging, '--set', 'settings.APP_ENV=')).toThrow(required);
    expect(refused(...staging)()).toContain('{ name: APP_ENV, value: staging }');
  });

  for (const name of ['staging', 'production']) {
    testWith(['helm'], `${name}: the chart passes the lint and hardens every pod`, (program) => {
      outputOf(program, ['lint', '--strict', chart, '-f', join(chart, `values.${name}.yaml`)]);
      const resources = render(program, name, '--set', 'databasePooler=transaction');
      const pods = resources.flatMap(({ spec }) => spec?.template?.spec ?? []);
      expect(pods).toHaveLength(3);
      for (const pod of pods) {
        expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
        expect(pod.automountServiceAccountToken).toBe(false);
        for (const { securityContext, resources: limits } of pod.containers) {
          expect(securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(limits).toMatchObject({
            requests: { cpu: expect.anything() },
            limits: { memory: expect.anything() },
          });
        }
      }
      const sources = pods.map(({ volumes }) =>
        volumes.flatMap(({ projected }) =>
          (projected?.sources ?? [])
            .filter(({ secret }) => secret.optional)
            .map(({ secret }) => secret.items),
        ),
      );
      // The migrations have none.
      expect(sources.map(({ length }) => length).sort()).toEqual([0, 1, 3]);
      const kinds = resources.map(({ kind }) => kind);
      for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'Ingress', 'Service', 'ConfigMap', 'Job'])
        expect(kinds).toContain(kind);
      expect(kinds.includes('HorizontalPodAutoscaler')).toBe(name === 'production');
    });
  }
});
