import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { titleWith } from '../../support/harness/programs.js';
import {
  DEBIAN,
  dumpTo,
  restoreDump,
  restoreWithoutOwner,
  startDebianServer,
} from '../../support/rehearsal/debian-server.js';
import type { DatabaseServer } from '../../support/rehearsal/installation.js';
import { copyOfThisVersion } from '../../support/rehearsal/releases.js';
import { endProcesses, makeFolder, removeFolders, runProgram } from '../../support/service/processes.js';
import { matching } from '../../support/assertions/matching.js';

// A logical dump of one of two deployments that shared a server, restored on an empty one as docs/restore.md describes.

const LIMIT_MS = 240_000;
const NEXT = '20990101000000_harmless';
const when = DEBIAN ? test : test.skip;
const missing = DEBIAN ? undefined : 'a PostgreSQL server of Debian';
const PASSWORD = 'word-of-a-test';

let dump: string;
let nextVersion: string;
let restored: DatabaseServer | undefined;

const start = async () => startDebianServer(DEBIAN ?? '', await makeFolder());

function createDeployment(server: DatabaseServer, name: string): void {
  const passwords = ['-v', `owner_password=${PASSWORD}`, '-v', `login_password=${PASSWORD}`];
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

beforeAll(async () => {
  if (missing) return;
  const lost = await start();
  try {
    for (const name of ['crossdock', 'crossdock_staging']) createDeployment(lost, name);
    const migrated = await operate(lost, projectRoot, 'migrate.js');
    expect(migrated).toMatchObject({ code: 0 });
    dump = join(await makeFolder(), 'crossdock.dump');
    await dumpTo(DEBIAN ?? '', lost, dump);
  } finally {
    await lost.stop();
  }
  const script = '-- upgrade: rolling\ncreate table planted (id int);';
  nextVersion = await copyOfThisVersion({ migrations: { [NEXT]: script } });
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await restored?.stop();
}, LIMIT_MS);

afterAll(removeFolders);

test('docs/restore.md has the command that the tests run', () => {
  const text = readFileSync(join(projectRoot, 'docs', 'restore.md'), 'utf8');
  expect(text).toContain('pg_restore --create --exit-on-error --jobs=2 --dbname=');
  expect(text).not.toMatch(matching(/^createdb/m, 'psql\ncreatedb crossdock'));
});

when(
  titleWith('the restored database has its owner and no other rights, and the next release migrates it', [
    missing,
  ]),
  async () => {
    restored = await start();
    restoreDump(DEBIAN ?? '', restored, dump);
    // The roles of the other deployment were restored too, and are no fault.
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
    restoreDump(DEBIAN ?? '', restored, dump);
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
    restoreDump(DEBIAN ?? '', restored, dump);
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
