import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { makeFolder, removeFolders } from '../../support/service/processes.js';

// deploy/compose with podman-compose 1.0.3, which Debian 12 has: it reads the real files, and prints how it would call podman.

const LIMIT_MS = 60_000;
const folder = join(projectRoot, 'deploy', 'compose');
const compose = parse(readFileSync(join(folder, 'compose.yaml'), 'utf8'), { merge: true });
const EXTENSIONS = readdirSync(join(projectRoot, 'deploy', 'optional'))
  .filter((name) => readdirSync(join(projectRoot, 'deploy', 'optional', name)).includes('compose.yaml'))
  .map((name) => `../optional/${name}/compose.yaml`);

const program = findProgram('podman-compose');
const isOld = /version\s+1\.0\.\d/.test(
  program ? spawnSync(program, ['version'], { encoding: 'utf8' }).stdout : '',
);
const declare = (title: string, run: () => Promise<void>) =>
  (isOld ? test : test.skip)(titleWith(title, [isOld ? undefined : 'podman-compose 1.0']), run, LIMIT_MS);

afterAll(removeFolders);

/** Returns the arguments of each container that podman-compose would start. */
async function runsOf(environment: string, args: string[], files: string[] = []): Promise<string[][]> {
  const bin = await makeFolder();
  // A dry run creates networks nevertheless, so this podman does nothing.
  writeFileSync(
    join(bin, 'podman'),
    "#!/bin/sh\n[ $1 = --version ] && echo 'podman version 4.3.1'\nexit 0\n",
  );
  chmodSync(join(bin, 'podman'), 0o755);
  const options = ['compose.yaml', ...files].flatMap((file) => ['-f', file]);
  const { status, stdout, stderr } = spawnSync(program ?? '', ['--dry-run', ...options, ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: bin,
      CROSSDOCK_ENVIRONMENT: environment,
      CROSSDOCK_VERSION: '1.2.3',
    },
  });
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  return `${stdout}${stderr}`
    .split('\n')
    .filter((line) => line.startsWith('podman run '))
    .map((line) => line.split(' '));
}

const project = (environment: string) => ['-p', `crossdock-${environment}`];

/** Returns the containers that are started: their names, and the values of an option. */
const containersOf = (runs: string[][]) =>
  runs.map((args) => ({
    name: args.find((arg) => arg.startsWith('--name='))?.slice('--name='.length) ?? '',
    valuesOf: (option: string) => args.filter((_, index) => args[index - 1] === option),
  }));

/** The names that two deployments on one machine must not have in common. */
const namesOf = (runs: string[][]) =>
  containersOf(runs).flatMap(({ valuesOf }) => [
    ...valuesOf('--net').flatMap((nets) => nets.split(',')),
    ...[...valuesOf('-v'), ...valuesOf('--volume')].flatMap((mount) => /^[^./][^:]*/.exec(mount) ?? []),
  ]);

describe('podman-compose', () => {
  declare('starts every service, each with the secrets that it needs', async () => {
    for (const environment of ['staging', 'production']) {
      const containers = containersOf(await runsOf(environment, [...project(environment), 'up', '-d']));
      const prefix = `crossdock-${environment}`;
      expect(containers.map(({ name }) => name).sort()).toEqual(
        ['api_1', 'api_2', 'migrate_1', 'pgbouncer_1', 'postgres_1', 'proxy_1', 'worker_1'].map(
          (name) => `${prefix}_${name}`,
        ),
      );
      for (const { name, valuesOf } of containers) {
        const [, service = ''] = /_(\w+)_\d$/.exec(name) ?? [];
        const mounted = valuesOf('--volume').flatMap(
          (mount) => /:\/run\/secrets\/([^:]+):ro/.exec(mount)?.[1] ?? [],
        );
        expect([name, mounted]).toEqual([name, compose.services[service].secrets]);
      }
    }
  });

  declare('keeps staging and production apart, also without -p', async () => {
    for (const args of [(name: string) => project(name), () => []]) {
      const [staging = [], production = []] = await Promise.all(
        ['staging', 'production'].map(async (name) =>
          namesOf(await runsOf(name, [...args(name), 'up', '-d'])),
        ),
      );
      expect(staging).toContain('crossdock-staging_postgres');
      expect(production).toContain('crossdock-production_postgres');
      expect(staging.filter((name) => production.includes(name))).toEqual([]);
    }
  });

  declare('creates a tenant with the command of docs/deploy.md', async () => {
    const deploy = readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8');
    const [, args = ''] = /^podman-compose (.*run --rm migrate tenant-create .*)$/m.exec(deploy) ?? [];
    const words = [...args.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const parts = words.map((word) => word.replace('$CROSSDOCK_ENVIRONMENT', 'staging'));
    const runs = await runsOf('staging', parts);
    expect(runs.at(-1)?.join(' ')).toMatch(
      / localhost\/crossdock:1\.2\.3 tenant-create --slug miami --name Miami /,
    );
  });

  for (const file of EXTENSIONS)
    declare(`accepts ${file}`, async () => {
      const extension = parse(readFileSync(join(folder, file), 'utf8'));
      const containers = containersOf(await runsOf('staging', [...project('staging'), 'up', '-d'], [file]));
      for (const [service, { secrets }] of Object.entries<{ secrets: string[] }>(extension.services)) {
        const mine = containers.filter(({ name }) => name.includes(`_${service}_`));
        expect(mine.length).toBeGreaterThan(0);
        for (const secret of secrets)
          for (const { valuesOf } of mine)
            expect(valuesOf('--volume').join()).toContain(`/${secret}:/run/secrets/${secret}:ro`);
      }
    });
});

describe('compose.yaml', () => {
  test('has no health check that is a list in a service, because podman-compose 1.0 shortens it', () => {
    const checks = Object.values<{ healthcheck?: { test: unknown } }>(compose.services).flatMap(
      ({ healthcheck }) => healthcheck?.test ?? [],
    );
    expect(checks.length).toBeGreaterThan(0);
    expect(checks.filter((check) => typeof check !== 'string')).toEqual([]);
  });

  test('names each network and volume after the environment', () => {
    for (const [name, each] of Object.entries<{ name: string }>({ ...compose.networks, ...compose.volumes }))
      expect(each.name).toBe(`crossdock-\${CROSSDOCK_ENVIRONMENT}_${name}`);
  });

  test('gives metrics only to networks that lead nowhere, and the internet only to the worker and the proxy', () => {
    const internal = Object.keys(compose.networks).filter((name) => compose.networks[name].internal);
    expect(internal.sort()).toEqual(['data', 'edge']);
    const outside = Object.entries<{ networks: string[] }>(compose.services).filter(([, { networks }]) =>
      networks.some((name) => !internal.includes(name)),
    );
    expect(outside.map(([name]) => name).sort()).toEqual(['proxy', 'worker']);
    expect(compose.services.worker.ports ?? compose.services.api.ports).toBeUndefined();
  });
});
