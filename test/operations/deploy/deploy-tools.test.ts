import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, outputOf, makeTestWith, titleWith } from '../../support/harness/programs.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

const testWith = makeTestWith(test);

// The files of deploy/, as the tools read them that use them.

const deploy = join(projectRoot, 'deploy');
const readText = (path: string) => readFileSync(join(deploy, path), 'utf8');
const EXTENSIONS = readdirSync(join(deploy, 'optional'), { recursive: true, encoding: 'utf8' }).map((path) =>
  join('optional', path),
);
const DROP_INS = EXTENSIONS.filter((path) => path.endsWith('.conf'));
/** The highest exposure that `systemd-analyze security` may report, times ten. */
const MAX_EXPOSURE = 20;

afterAll(removeFolders);

describe('the file of the certificate and the key for haproxy', () => {
  test.each(['deploy.md', 'operations.md'])(
    'is readable only by its owner after the commands of %s',
    async (page) => {
      const folder = await makeFolder();
      const text = readFileSync(join(projectRoot, 'docs', page), 'utf8');
      const commands =
        /\(?[^\n`(]*cat [^\n`]*>\/etc\/crossdock\/tls\.pem\.new\)? && mv (-f )?\S+ \/etc\/crossdock\/tls\.pem/.exec(
          text,
        )?.[0];
      await writeFile(join(folder, 'fullchain.pem'), 'certificate\n');
      await writeFile(join(folder, 'privkey.pem'), 'key\n');
      const script = `umask 022; CERTIFICATE=fullchain.pem; PRIVATE_KEY=privkey.pem; ${commands?.replaceAll('/etc/crossdock', folder)}`;
      expect(spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' })).toMatchObject({
        status: 0,
        stderr: '',
      });
      const path = join(folder, 'tls.pem');
      expect([readFileSync(path, 'utf8'), ((await stat(path)).mode & 0o777).toString(8)]).toEqual([
        'certificate\nkey\n',
        '600',
      ]);
    },
  );
});

describe('systemd', () => {
  testWith(['systemd-analyze'], 'accepts the optional secrets', async (program) => {
    const folder = await makeFolder();
    for (const unit of ['crossdock-api@.service', 'crossdock-worker.service']) {
      await mkdir(join(folder, `${unit}.d`));
      await copyFile(join(deploy, 'systemd', unit), join(folder, unit));
      const suffix = `systemd/system/${unit}.d/`;
      for (const path of DROP_INS.filter((each) => readText(each).includes(suffix)))
        await copyFile(join(deploy, path), join(folder, `${unit}.d`, basename(path)));
      const messages = outputOf(deploy, program, ['verify', '--man=no', join(folder, unit)]).split('\n');
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
      outputOf(deploy, program, ['security', '--offline=true', `--threshold=${MAX_EXPOSURE}`, path]);
      const messages = outputOf(deploy, program, ['verify', '--man=no', path]).split('\n');
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
    outputOf(deploy, 'sh', ['-c', `cat ${certificate} ${key} > ${pem}`]);
    const env = { HTTP_BIND: '127.0.0.1:8080', HTTPS_BIND: '127.0.0.1:8443', TLS_PEM: pem };
    for (const backend of ['20-compose.cfg', '20-host.cfg']) {
      const args = ['-c', '-f', '10-frontend.cfg', '-f', backend];
      expect(() => outputOf(join(deploy, 'proxy'), program, args, env)).not.toThrow();
    }
  });
});

describe('compose', () => {
  const title = 'accepts the file and merges its parts';
  const found = findProgram('podman-compose', 'docker-compose');
  // podman-compose 1.0 has no command "config".
  const program = found && outputOf(deploy, found, ['--help']).includes('config') ? found : undefined;
  const missing = program ? undefined : 'podman-compose or docker-compose with "config"';
  (program ? test : test.skip)(titleWith(title, [missing]), () => {
    if (!program) return;
    const env = { CROSSDOCK_ENVIRONMENT: 'staging', CROSSDOCK_VERSION: '1.2.3' };
    const text = outputOf(join(deploy, 'compose'), program, ['-f', 'compose.yaml', 'config'], env);
    expect(text).toContain('localhost/crossdock:1.2.3');
    for (const path of EXTENSIONS.filter((each) => each.endsWith('compose.yaml'))) {
      const files = ['compose.yaml', `../${path}`].flatMap((file) => ['-f', file]);
      const merged = outputOf(join(deploy, 'compose'), program, [...files, 'config'], env);
      expect(merged).toContain('ENCRYPTION_KEYS');
      const [secret = ''] = /[A-Z_]+(?=\])/.exec(readText(path)) ?? [];
      // In the service, as the name of the secret, and in its file.
      expect(merged.split(secret).length).toBeGreaterThan(3);
    }
  });
});
