import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { DEBIAN, startDebianServer } from '../../support/rehearsal/debian-server.js';
import { startOwnServer } from '../../support/service/postgres.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  run,
  statusOf,
  until,
} from '../../support/service/processes.js';

// Several deployments on one PostgreSQL server, as deploy/make-secrets.sh and deploy/postgres/roles.sql make them.

const LIMIT_MS = 180_000;
const deploy = join(projectRoot, 'deploy');
const NAMES = ['crossdock', 'crossdock_staging'];

const SERVERS = [
  { title: 'the embedded server', missing: undefined, start: () => startOwnServer() },
  {
    title: `the server in ${DEBIAN ?? '/usr/lib/postgresql'}`,
    missing: DEBIAN ? undefined : 'a PostgreSQL server of Debian',
    start: async () => startDebianServer(DEBIAN ?? '', await makeFolder()),
  },
];

afterAll(removeFolders, LIMIT_MS);

const secretOf = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8').trim();

describe.each(SERVERS)('$title', ({ missing: missingServer, start }) => {
  const missing = findProgram('psql') ? missingServer : 'psql';
  const when = missing ? test.skip : test;
  const folders = new Map<string, string>();
  let server: Awaited<ReturnType<typeof start>> | undefined;

  const folderOf = (name: string) => String(folders.get(name));

  async function makeSecrets(name: string): Promise<void> {
    const { hostname, port } = new URL(server?.urlOf('postgres') ?? '');
    const folder = join(await makeFolder(), 'secrets');
    folders.set(name, folder);
    const args = [join(deploy, 'make-secrets.sh'), folder, `${hostname}:${port}`, '--name', name];
    expect(spawnSync('sh', args, { encoding: 'utf8' })).toMatchObject({ status: 0 });
  }

  const createDatabase = (secretsOf: string, name = secretsOf) =>
    spawnSync(
      'psql',
      [
        ...['--no-psqlrc', '--quiet', '-f', join(deploy, 'postgres', 'roles.sql')],
        ...['-v', `owner_password=${secretOf(folderOf(secretsOf), 'OWNER_PASSWORD')}`],
        ...['-v', `login_password=${secretOf(folderOf(secretsOf), 'LOGIN_PASSWORD')}`],
        // The first deployment has the default name.
        ...(name === 'crossdock' ? [] : ['-v', `name=${name}`]),
        server?.urlOf('postgres') ?? '',
      ],
      { encoding: 'utf8' },
    );

  /** The settings of a server, with the secrets that deploy/ gives to it. */
  const settingsOf = (name: string) => ({
    APP_ENV: name.endsWith('staging') ? 'staging' : 'production',
    ...Object.fromEntries(
      ['DATABASE_URL', 'TOKEN_KEYS', 'ENCRYPTION_KEYS', 'LOOKUP_KEY'].map((secret) => [
        secret,
        secretOf(folderOf(name), secret),
      ]),
    ),
    TRUST_PROXY: '127.0.0.1',
    LOG_LEVEL: 'error',
  });

  /** Returns the doctor's problems and warnings about the database and its roles. */
  async function examine(name: string): Promise<string[]> {
    const doctor = run('src/commands/doctor.js', settingsOf(name));
    await doctor.ended;
    const lines = doctor.output().split('\n');
    for (const check of ['rights', 'schema', 'storage', 'migrations'])
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^(ok|warning|problem) +${check} `)));
    return lines.filter((line) =>
      /^(warning|problem) +(server|storage|migrations|extensions|rights|schema|demo data|deployment) /.test(
        line,
      ),
    );
  }

  beforeAll(async () => {
    if (missing) return;
    server = await start();
    for (const name of NAMES) await makeSecrets(name);
  }, LIMIT_MS);

  afterAll(async () => {
    await endProcesses();
    await server?.stop();
  }, LIMIT_MS);

  when(
    titleWith('both are created, and each is migrated by its own owner', [missing]),
    async () => {
      for (const name of NAMES)
        expect(createDatabase(name)).toMatchObject({ status: 0, stdout: '', stderr: '' });
      for (const name of NAMES) {
        const migrating = run('src/commands/migrate.js', { SECRETS_DIR: folderOf(name) });
        expect(await migrating.ended).toEqual({ code: 0, signal: null });
      }
    },
    LIMIT_MS,
  );

  when(
    titleWith('creating one that exists is refused, and its passwords stay', [missing]),
    async () => {
      // For example for the second deployment, without its name.
      const passwords = ['owner', 'login'].flatMap((role) => ['-v', `${role}_password=another`]);
      const file = join(deploy, 'postgres', 'roles.sql');
      const args = ['--no-psqlrc', '--quiet', '-f', file, ...passwords, server?.urlOf('postgres') ?? ''];
      expect(spawnSync('psql', args, { encoding: 'utf8' })).toMatchObject({
        status: 3,
        stderr: expect.stringContaining('role "crossdock_owner" already exists'),
      });
      for (const secret of ['DATABASE_URL', 'DATABASE_OWNER_URL'])
        expect(await withClient(secretOf(folderOf('crossdock'), secret), () => Promise.resolve(true))).toBe(
          true,
        );
    },
    LIMIT_MS,
  );

  when(
    titleWith('both serve at the same time, and the doctor finds nothing about roles and schema', [missing]),
    async () => {
      const services = [];
      for (const name of NAMES) {
        const port = String(await freePort());
        const service = run('src/main.js', { ...settingsOf(name), PORT: port, METRICS_PORT: '0' });
        await until(async () => {
          if (service.child.exitCode !== null) throw new Error(`${name} ended:\n${service.output()}`);
          return (await statusOf(`http://127.0.0.1:${port}/ready`)) === 200;
        });
        services.push(service);
      }
      expect(services.map(({ child }) => child.exitCode)).toEqual([null, null]);
      for (const name of NAMES) expect([name, await examine(name)]).toEqual([name, []]);
      await endProcesses();
    },
    LIMIT_MS,
  );

  when(
    titleWith('each owner can still replace its functions, and a third deployment changes nothing', [
      missing,
    ]),
    async () => {
      await makeSecrets('third');
      expect(createDatabase('third')).toMatchObject({ status: 0, stderr: '' });
      for (const name of NAMES) {
        expect([name, await examine(name)]).toEqual([name, []]);
        await withClient(secretOf(folderOf(name), 'DATABASE_OWNER_URL'), (client) =>
          client.query(
            `do $$ begin execute pg_get_functiondef('tenant_of_host(text)'::regprocedure); end $$`,
          ),
        );
      }
    },
    LIMIT_MS,
  );

  when(
    titleWith('none can connect to the database of another one', [missing]),
    async () => {
      for (const [index, name] of NAMES.entries())
        for (const secret of ['DATABASE_URL', 'DATABASE_OWNER_URL']) {
          const url = new URL(secretOf(folderOf(name), secret));
          url.pathname = `/${NAMES[1 - index]}`;
          await expect(withClient(url.href, async () => name)).rejects.toThrow(
            /permission denied for database/,
          );
        }
    },
    LIMIT_MS,
  );

  when(
    titleWith('an unusable name creates nothing', [missing]),
    async () => {
      for (const name of ['', 'Big', 'a-b', '1a', 'a"b', 'x'.repeat(41)]) {
        const { status, stdout, stderr } = createDatabase('crossdock', name);
        expect([name, status]).toEqual([name, 3]);
        expect(`${stdout}${stderr}`).toContain('name must be lower-case letters');
      }
      const databases = await server?.query(
        "select datname from pg_database where datname not in ('postgres', 'template0', 'template1') order by 1",
      );
      expect(databases).toEqual([...NAMES, 'third'].map((datname) => ({ datname })));
    },
    LIMIT_MS,
  );
});
