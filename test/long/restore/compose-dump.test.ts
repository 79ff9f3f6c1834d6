import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { projectRoot } from '../../../src/config/project-root.js';
import { titleWith } from '../../support/harness/programs.js';
import { DEBIAN, startDebianServer } from '../../support/rehearsal/debian-server.js';
import type { DatabaseServer } from '../../support/rehearsal/installation.js';
import { blockOf, openTerminal } from '../../support/restores/restore-page.js';
import { endProcesses, makeFolder, removeFolders, runProgram } from '../../support/service/processes.js';

// The blocks of docs/restore.md for compose. What podman would execute in the container is executed on a server of Debian.

const LIMIT_MS = 240_000;
const missing = DEBIAN ? undefined : 'a PostgreSQL server of Debian';
const PASSWORD = 'word-of-a-test';

let server: DatabaseServer | undefined;

afterEach(endProcesses);
afterAll(async () => {
  await server?.stop();
  await removeFolders();
}, LIMIT_MS);

/** Opens a terminal in the folder of compose. `CONTAINER` has what the container of PostgreSQL would have in /run. */
async function terminalOf({ urlOf }: DatabaseServer) {
  const [container, backup] = [await makeFolder(), await makeFolder()];
  for (const role of ['OWNER', 'LOGIN']) writeFileSync(join(container, `${role}_PASSWORD`), `${PASSWORD}\n`);
  const { hostname, port, password } = new URL(urlOf('postgres'));
  const terminal = openTerminal(`${blockOf('values-compose')}
BACKUP=${backup}
engine() { shift; test "$1" != -i || shift; shift; PATH=${DEBIAN}:$PATH PGHOST=${hostname} PGPORT=${port} PGPASSWORD=${password} "$@"; }`);
  const paste = (text: string) =>
    terminal.paste(
      text
        .replaceAll('/run/secrets', container)
        .replaceAll('/run/roles.sql', join(projectRoot, 'deploy', 'postgres', 'roles.sql')),
    );
  const expectOk = (block: string) => expect(paste(blockOf(block))).toMatch(/(^|\n)OK: [^\n]*$/);
  return { backup, paste, expectOk };
}

/** Runs a program of the service with the URLs of the deployment, and returns what it printed. */
async function operate({ urlOf }: DatabaseServer, program: string): Promise<string> {
  const url = (role: string) => urlOf('crossdock', { user: `crossdock_${role}`, password: PASSWORD });
  const { PATH } = process.env;
  const env = { PATH, APP_ENV: 'staging', DATABASE_URL: url('login'), DATABASE_OWNER_URL: url('owner') };
  const running = runProgram(process.execPath, [join(projectRoot, 'dist', 'src', 'commands', program)], env);
  await running.ended;
  return running.output();
}

(DEBIAN ? test : test.skip)(
  titleWith('a dump of compose is restored beside the lost database, and nothing is sent', [missing]),
  async () => {
    server = await startDebianServer(DEBIAN ?? '', await makeFolder());
    const { backup, paste, expectOk } = await terminalOf(server);
    // As init.sh, which the image of PostgreSQL runs once.
    const passwords = ['-v', `owner_password=${PASSWORD}`, '-v', `login_password=${PASSWORD}`];
    const roles = join(projectRoot, 'deploy', 'postgres', 'roles.sql');
    expect(spawnSync('psql', ['-Xqf', roles, ...passwords, server.urlOf('postgres')]).status).toBe(0);
    expect(paste(blockOf('compose-dump'))).toMatch(/(^|\n)FAILED: [^\n]*$/);
    await operate(server, 'migrate.js');
    await server.query(
      'create table written (n int); alter table written owner to crossdock_owner; insert into written values (1)',
      'crossdock',
    );
    expectOk('compose-dump');
    const first = readFileSync(join(backup, 'crossdock.dump'));

    await server.query('insert into written values (2)', 'crossdock');
    await server.query("alter role crossdock_login password 'another'");
    // The blocks in the wrong order: the database that exists is not mixed with the dump.
    expect(paste(blockOf('compose-load'))).toMatch(/already exists[^]*\nFAILED: [^\n]*$/);
    expectOk('compose-rename');
    expect(paste(blockOf('compose-dump'))).toMatch(/(^|\n)FAILED: [^\n]*$/);
    expect(readFileSync(join(backup, 'crossdock.dump'))).toEqual(first);
    expectOk('compose-load');

    const written = async (database: string) =>
      (await server?.query('select n from written order by 1', database))?.map(({ n }) => n);
    const [lost] = await server.query("select datname from pg_database where datname ~ '_lost_'");
    expect(await written('crossdock')).toEqual([1]);
    expect(await written(String(lost?.['datname']))).toEqual([1, 2]);
    // A table without statistics of the planner has -1.
    const analyzed = await server.query(
      "select reltuples from pg_class where relname = 'written'",
      'crossdock',
    );
    expect(analyzed).toEqual([{ reltuples: 1 }]);
    const report = await operate(server, 'doctor.js');
    for (const line of ['migrations', 'rights', 'owner'])
      expect(report).toMatch(new RegExp(`^ok +${line} `, 'm'));
    expect(report).toContain('restored from a dump');
  },
  LIMIT_MS,
);
