import { spawnSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { titleWith } from '../../support/harness/programs.js';
import {
  DEBIAN,
  dumpTo,
  restoreWithoutOwner,
  startDebianServer,
} from '../../support/rehearsal/debian-server.js';
import type { DatabaseServer } from '../../support/rehearsal/installation.js';
import { blockOf, openTerminal, type Terminal } from '../../support/restores/restore-page.js';
import { copyOfThisVersion } from '../../support/rehearsal/releases.js';
import { endProcesses, makeFolder, removeFolders, runProgram } from '../../support/service/processes.js';

// A logical dump of one of two deployments that share a server, restored there and on an empty one with the blocks of docs/restore.md.

const LIMIT_MS = 240_000;
const NEXT = '20990101000000_harmless';
const when = DEBIAN ? test : test.skip;
const missing = DEBIAN ? undefined : 'a PostgreSQL server of Debian';
const PASSWORD = 'word-of-a-test';
/** The password of the backup, which was replaced later. */
const LEAKED = 'word-that-has-leaked';

let dump: string;
/** The server of both deployments, and a terminal in which the names are those of the first one. */
let shared: DatabaseServer | undefined;
let terminal: Terminal;
let nextVersion: string;
let restored: DatabaseServer | undefined;

const start = async () => startDebianServer(DEBIAN ?? '', await makeFolder());

function createDeployment(server: DatabaseServer, name: string, password: string): void {
  const passwords = ['-v', `owner_password=${password}`, '-v', `login_password=${password}`];
  const file = join(projectRoot, 'deploy', 'postgres', 'roles.sql');
  const args = [
    '--no-psqlrc',
    '-q',
    '-f',
    file,
    ...passwords,
    '-v',
    `name=${name}`,
    server.urlOf('postgres'),
  ];
  expect(spawnSync('psql', args, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
}

const urlOf = (server: DatabaseServer, role: string) =>
  server.urlOf('crossdock', { user: `crossdock_${role}`, password: PASSWORD });

/** Runs a program of a version with the URLs of the deployment. */
async function operate(server: DatabaseServer, version: string, program: string, ...args: string[]) {
  const { PATH } = process.env;
  const running = runProgram(process.execPath, [join(version, 'dist', 'src', 'commands', program), ...args], {
    PATH,
    APP_ENV: 'staging',
    DATABASE_URL: urlOf(server, 'login'),
    DATABASE_OWNER_URL: urlOf(server, 'owner'),
  });
  const { code } = await running.ended;
  return { code, output: running.output() };
}

/** Returns the doctor's problems about roles, rights and migrations. */
async function problemsOf(server: DatabaseServer): Promise<string[]> {
  const { output } = await operate(server, projectRoot, 'doctor.js');
  expect(output).toMatch(/^(ok|problem) +migrations /m);
  return output.split('\n').filter((line) => /^problem +(rights|schema|owner|migrations) /.test(line));
}

/** Opens a terminal on the machine of a server, with the secrets of the deployment and the folder of the dump. */
async function terminalOf(server: DatabaseServer, backup: string): Promise<Terminal> {
  const secrets = await makeFolder();
  for (const [role, name] of [
    ['owner', 'DATABASE_OWNER_URL'],
    ['login', 'DATABASE_URL'],
  ] as const) {
    writeFileSync(join(secrets, `${role.toUpperCase()}_PASSWORD`), `${PASSWORD}\n`);
    writeFileSync(join(secrets, name), `${urlOf(server, role)}\n`);
  }
  return openTerminal(
    `BIN=${DEBIAN} BACKUP=${backup} SECRETS=${secrets} DEPLOY=${projectRoot}/deploy SUPERUSER_URL=${server.urlOf('postgres')}`,
  );
}

function expectOk(of: Terminal, block: string): void {
  const printed = of.paste(blockOf(block));
  expect([printed, printed.split('\n').at(-1)]).toEqual([printed, expect.stringMatching(/^OK: /)]);
}

/** Restores the dump with the blocks of the page. */
async function restoreDump(server: DatabaseServer): Promise<void> {
  const own = await terminalOf(server, dirname(dump));
  for (const block of ['rename', 'roles', 'load']) expectOk(own, block);
}

const canLogIn = (server: DatabaseServer, user: string, password: string): Promise<boolean> =>
  withClient(server.urlOf(user.replace(/_(login|owner)$/, ''), { user, password }), async () => true).catch(
    () => false,
  );

beforeAll(async () => {
  if (missing) return;
  shared = await start();
  for (const name of ['crossdock', 'crossdock_staging']) createDeployment(shared, name, LEAKED);
  for (const role of ['owner', 'login'])
    await shared.query(`alter role crossdock_${role} password '${PASSWORD}'`);
  expect(await operate(shared, projectRoot, 'migrate.js')).toMatchObject({ code: 0 });
  const backup = await makeFolder();
  dump = join(backup, 'crossdock.dump');
  // For restoreWithoutOwner, which needs the roles of the dump.
  await dumpTo(DEBIAN ?? '', shared, dump);
  terminal = await terminalOf(shared, backup);
  expectOk(terminal, 'dump');
  const script = '-- upgrade: rolling\ncreate table planted (id int);';
  nextVersion = await copyOfThisVersion({ migrations: { [NEXT]: script } });
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await restored?.stop();
  restored = undefined;
}, LIMIT_MS);

afterAll(async () => {
  await shared?.stop();
  await removeFolders();
}, LIMIT_MS);

when(
  titleWith(
    'the empty database before a restore does not replace the dump, and a later dump keeps the older one',
    [missing],
  ),
  async () => {
    restored = await start();
    const folder = await makeFolder();
    copyFileSync(dump, join(folder, 'crossdock.dump'));
    const own = await terminalOf(restored, folder);
    expectOk(own, 'roles');
    expect(own.paste(blockOf('dump'))).toMatch(/^FAILED: the newest complete dump is the one of before/m);
    expect(readFileSync(join(folder, 'crossdock.dump'))).toEqual(readFileSync(dump));
    // The blocks in the wrong order: the database that exists is not mixed with the dump.
    for (const block of ['load', 'dump']) expectOk(own, block);
    expect(own.paste(blockOf('load'))).toMatch(/already exists[^]*^FAILED: paste the three blocks/m);
    const [, older = ''] = readdirSync(folder).filter((name) => /^crossdock\.dump(\.\d+T\d+)?$/.test(name));
    expect(readFileSync(join(folder, older))).toEqual(readFileSync(dump));
  },
  LIMIT_MS,
);

when(
  titleWith(
    'on a shared server the other deployment keeps its data and its new password, and nothing is sent',
    [missing],
  ),
  async () => {
    if (!shared) return;
    // After the dump, a leaked password of staging was replaced, and both deployments have written.
    for (const role of ['owner', 'login'])
      await shared.query(`alter role crossdock_staging_${role} password '${PASSWORD}'`);
    await shared.query('create table written (n int)', 'crossdock_staging');
    await shared.query('create table written (n int)', 'crossdock');
    // The same server and timeline as before the restore, which the service could not tell from no restore.
    await shared.query('update installation.outbound set server = null', 'crossdock');

    await withClient(shared.urlOf('crossdock'), async () => {
      expect(terminal.paste(blockOf('rename'))).toMatch(/being accessed by other users[^]*\nFAILED: [^\n]*$/);
    });
    for (const block of ['rename', 'roles', 'load']) expectOk(terminal, block);

    const names = await shared.query(
      "select datname from pg_database where datname ~ '^crossdock' order by 1",
    );
    expect(names.map(({ datname }) => datname)).toEqual([
      'crossdock',
      expect.stringMatching(/^crossdock_lost_\d{14}$/),
      'crossdock_staging',
    ]);
    const hasWritten = async (database: string) =>
      (await shared?.query("select to_regclass('written') is not null as has", database))?.[0]?.['has'];
    expect(await hasWritten('crossdock')).toBe(false);
    expect(await hasWritten(String(names[1]?.['datname']))).toBe(true);
    expect(await hasWritten('crossdock_staging')).toBe(true);
    for (const user of [
      'crossdock_login',
      'crossdock_owner',
      'crossdock_staging_login',
      'crossdock_staging_owner',
    ])
      expect([user, await canLogIn(shared, user, LEAKED), await canLogIn(shared, user, PASSWORD)]).toEqual([
        user,
        false,
        true,
      ]);
    expect(
      await shared.query('select paused_because as reason from installation.outbound', 'crossdock'),
    ).toEqual([{ reason: expect.stringContaining('restored from a dump') }]);
    expect(await problemsOf(shared)).toEqual([]);
  },
  LIMIT_MS,
);

when(
  titleWith('the block of the roles refuses secrets of another deployment, and changes no password', [
    missing,
  ]),
  async () => {
    if (!shared) return;
    const other = await terminalOf(shared, dirname(dump));
    const printed = other.paste(`NAME=crossdock_staging\n${blockOf('roles')}`);
    expect(printed).toMatch(/^FAILED: /m);
    expect(await canLogIn(shared, 'crossdock_staging_login', PASSWORD)).toBe(true);
  },
  LIMIT_MS,
);

when(
  titleWith('the restored database has its owner and no other rights, and the next release migrates it', [
    missing,
  ]),
  async () => {
    restored = await start();
    await restoreDump(restored);
    expect(await problemsOf(restored)).toEqual([]);
    const upgrade = await operate(restored, nextVersion, 'doctor.js', '--upgrade');
    expect(upgrade).toMatchObject({ code: 0, output: expect.stringMatching(/^rolling:/) });
    const migrated = await operate(restored, nextVersion, 'migrate.js');
    expect(migrated).toEqual({ code: 0, output: `Applied ${NEXT}.\n` });
  },
  LIMIT_MS,
);

when(
  titleWith(
    'without its owner, doctor, doctor --upgrade and migrate say so with the statement that corrects it',
    [missing],
  ),
  async () => {
    restored = await start();
    await restoreWithoutOwner(DEBIAN ?? '', restored, dump);
    const statement = 'alter database crossdock owner to crossdock_owner;';
    const expected = `The role crossdock_owner may not create tables in the schema public, which belongs to pg_database_owner. Run as a superuser: ${statement}`;
    const problems = await problemsOf(restored);
    expect(problems).toContain(`problem  owner        ${expected}`);

    const upgrade = await operate(restored, nextVersion, 'doctor.js', '--upgrade');
    expect(upgrade).toEqual({ code: 5, output: expect.stringContaining(expected) });
    const refused = await operate(restored, nextVersion, 'migrate.js');
    expect(refused).toEqual({ code: 1, output: expect.stringContaining(expected) });
    expect(await restored.query("select to_regclass('planted') as found", 'crossdock')).toEqual([
      { found: null },
    ]);

    await restored.query(
      `${statement} revoke connect, temporary on database crossdock from public;
       grant connect, temporary on database crossdock to crossdock_login`,
    );
    expect(await problemsOf(restored)).toEqual([]);
    expect(await operate(restored, nextVersion, 'migrate.js')).toMatchObject({ code: 0 });
  },
  LIMIT_MS,
);

when(
  titleWith('a superuser migrates no database of another owner, because new tables would be its own', [
    missing,
  ]),
  async () => {
    restored = await start();
    await restoreDump(restored);
    const { PATH } = process.env;
    const program = join(nextVersion, 'dist', 'src', 'commands', 'migrate.js');
    const env = { PATH, APP_ENV: 'staging', DATABASE_OWNER_URL: restored.urlOf('crossdock') };
    const migrating = runProgram(process.execPath, [program], env);
    const { code } = await migrating.ended;
    expect([code, migrating.output()]).toEqual([
      1,
      'New tables would belong to the role postgres of DATABASE_OWNER_URL. The tables of the database crossdock belong to crossdock_owner. ' +
        'Set DATABASE_OWNER_URL to a connection of the role crossdock_owner.\nNothing is applied.\n',
    ]);
  },
  LIMIT_MS,
);

when(
  titleWith('a table or a schema of another role is named before the next release changes anything', [
    missing,
  ]),
  async () => {
    restored = await start();
    await restoreDump(restored);
    await restored.query(
      'alter table public._prisma_migrations owner to postgres; alter schema graphile_worker owner to postgres',
      'crossdock',
    );
    const refused = await operate(restored, nextVersion, 'doctor.js', '--upgrade');
    expect(refused).toEqual({
      code: 5,
      output: expect.stringMatching(
        /schema graphile_worker, which belongs to postgres\. .*alter schema graphile_worker owner to crossdock_owner;\n.*alter table _prisma_migrations owner to crossdock_owner;/,
      ),
    });
  },
  LIMIT_MS,
);
