import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { findProgram, titleWith } from '../../support/harness/programs.js';
import { DEBIAN, startDebianServer } from '../../support/rehearsal/debian-server.js';
import { startOwnServer } from '../../support/service/postgres.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';
import { findingsFor } from './installation.js';

// The way of docs/deploy.md: roles.sql, the first migration, and then the block that takes createrole from the owner.

const LIMIT_MS = 120_000;
const isBefore16 = DEBIAN !== undefined && /\/15\//.test(DEBIAN);

const SERVERS = [
  {
    title: 'before PostgreSQL 16',
    warns: true,
    missing: isBefore16 ? undefined : 'PostgreSQL 15 of Debian',
    start: async () => startDebianServer(DEBIAN ?? '', await makeFolder()),
  },
  { title: 'from PostgreSQL 16 on', warns: false, missing: undefined, start: () => startOwnServer() },
];

const [, BLOCK = ''] =
  /```sh\n(SUPERUSER_URL=[^\n]*\npsql [^\n]* nocreaterole[^]*?)```/.exec(
    readFileSync(join(projectRoot, 'docs', 'deploy.md'), 'utf8'),
  ) ?? [];

afterAll(async () => {
  await endProcesses();
  await removeFolders();
}, LIMIT_MS);

describe.each(SERVERS)('$title', ({ warns, missing: missingServer, start }) => {
  const missing = findProgram('psql') ? missingServer : 'psql';
  const when = missing ? test.skip : test;
  let server: Awaited<ReturnType<typeof start>>;
  let env: Record<string, string>;

  const rolesOf = async (appEnv = 'production') =>
    (await findingsFor({ ...env, APP_ENV: appEnv }))
      .filter(({ check }) => check === 'roles')
      .map(({ level, message }) => `${level}: ${message}`);

  beforeAll(async () => {
    if (missing) return;
    server = await start();
    const folder = join(await makeFolder(), 'secrets');
    const { hostname, port } = new URL(server.urlOf('postgres'));
    const make = [join(projectRoot, 'deploy', 'make-secrets.sh'), folder, `${hostname}:${port}`];
    expect(spawnSync('sh', make)).toMatchObject({ status: 0 });
    const secretOf = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
    const roles = ['--no-psqlrc', '--quiet', '-f', join(projectRoot, 'deploy', 'postgres', 'roles.sql')];
    const passwords = ['owner', 'login'].flatMap((role) => [
      '-v',
      `${role}_password=${secretOf(`${role.toUpperCase()}_PASSWORD`)}`,
    ]);
    expect(spawnSync('psql', [...roles, ...passwords, server.urlOf('postgres')])).toMatchObject({
      status: 0,
    });
    env = { DATABASE_URL: secretOf('DATABASE_URL') };
    // The owner needs createrole for the first migration.
    expect(await rolesOf()).toEqual([expect.stringMatching(/^ok: /)]);
    expect(await run('src/commands/migrate.js', { SECRETS_DIR: folder }).ended).toMatchObject({ code: 0 });
  }, LIMIT_MS);

  afterAll(async () => {
    if (!missing) await server.stop();
  }, LIMIT_MS);

  when(
    titleWith('the owner of another deployment is named if it can change the roles of this one', [missing]),
    async () => {
      const none = [expect.stringMatching(/^ok: /)];
      expect(await rolesOf()).toEqual(none);
      await server.query('create role another_owner login createrole');
      const seen = warns
        ? [
            expect.stringMatching(
              /^warning: In PostgreSQL 15 these roles can .* deployment's roles: another_owner\.$/,
            ),
          ]
        : none;
      expect(await rolesOf()).toEqual(seen);
      expect(await rolesOf('staging')).toEqual(seen);
      expect(await rolesOf('development')).toEqual(none);
    },
    LIMIT_MS,
  );

  when(
    titleWith('the block takes createrole from an owner, whose deployment keeps what it needs', [missing]),
    async () => {
      const superuser = BLOCK.replace(/^SUPERUSER_URL=.*/, `SUPERUSER_URL=${server.urlOf('postgres')}`);
      const paste = (text: string) => spawnSync('sh', ['-c', text], { encoding: 'utf8' });
      for (const owner of ['another_owner', 'crossdock_owner'])
        expect(paste(superuser.replace('crossdock_owner', owner))).toMatchObject({
          stdout: expect.stringMatching(/^OK: [^\n]+\n$/),
          stderr: '',
        });
      expect(paste(superuser.replace('crossdock_owner', 'nobody_owner')).stderr).toMatch(
        /\nFAILED: [^\n]+\n$/,
      );
      expect(await rolesOf()).toEqual([expect.stringMatching(/^ok: /)]);
      expect(await server.query('select rolname from pg_roles where rolcreaterole and not rolsuper')).toEqual(
        [],
      );
      const lines = await findingsFor({ ...env, APP_ENV: 'production' });
      expect(lines.filter(({ check }) => check === 'owner')).toMatchObject([{ level: 'ok' }]);
    },
    LIMIT_MS,
  );
});
