import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { withClient } from '../../../src/platform/db/connections/roles.js';
import { PGBOUNCER, startPooler, type Pooler } from '../../support/harness/pgbouncer.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { copyOfThisVersion } from '../../support/rehearsal/releases.js';
import {
  endProcesses,
  freePort,
  makeFolder,
  removeFolders,
  run,
  runProgram,
  statusOf,
  until,
} from '../../support/service/processes.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';

// Commands that must not run beside servers, with the documented owner, who sees little of other roles' sessions.

const LIMIT_MS = 120_000;
const NEXT = '20990101000000_stop';
const NEW_KEY = 'a1b2c3d4e5f60718'.repeat(4);

let database: DocumentedDatabase;
let nextVersion: string;
let replacedKey: string;
let pooler: Pooler | undefined;

beforeAll(async () => {
  database = await documentedDatabase();
  nextVersion = await copyOfThisVersion({
    migrations: { [NEXT]: '-- upgrade: stop\n-- because: a test\ncreate table planted (id int);' },
  });
  replacedKey = join(await makeFolder(), 'replaced-lookup-key');
  writeFileSync(replacedKey, `${KEYS.LOOKUP_KEY}\n`);
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await pooler?.stop();
  pooler = undefined;
}, LIMIT_MS);

afterAll(async () => {
  await database.drop();
  await removeFolders();
}, LIMIT_MS);

const SETTINGS = { ...KEYS, APP_ENV: 'staging', DEPLOYMENT: 'running', TRUST_PROXY: '127.0.0.1' };

/** Starts a server without a worker, whose heartbeat would show it too. Waits until it serves. */
async function serve(DATABASE_URL: string, more: Record<string, string> = {}) {
  const PORT = String(await freePort());
  const env = { ...SETTINGS, DATABASE_URL, RUN_WORKER: 'false', METRICS_PORT: '0', PORT, ...more };
  const server = run('src/main.js', env);
  await until(async () => {
    if (server.child.exitCode !== null) throw new Error(server.output());
    return (await statusOf(`http://127.0.0.1:${PORT}/ready`)) === 200;
  });
  return server;
}

const COMMANDS: Record<string, () => { version?: string; env?: Record<string, string>; args?: string[] }> = {
  migrate: () => ({ version: nextVersion }),
  rehash: () => ({ env: { LOOKUP_KEY: NEW_KEY }, args: ['--replaced-key', replacedKey] }),
  'take-over': () => ({
    env: { APP_ENV: 'production' },
    args: ['--from', SETTINGS.DEPLOYMENT, '--database', database.name],
  }),
};

/** Runs a command of the operator to its end. */
async function operate(command: keyof typeof COMMANDS) {
  const { version, env = {}, args = [] } = COMMANDS[command]?.() ?? {};
  const settings = { ...SETTINGS, ...database.urls, ...env };
  const running = version
    ? runProgram(process.execPath, [join(version, 'dist', 'src', 'commands', `${command}.js`), ...args], {
        PATH: process.env['PATH'],
        ...settings,
      })
    : run(`src/commands/${command}.js`, settings, args);
  const { code } = await running.ended;
  return { code, output: running.output() };
}

/** What the commands would change. */
const readState = () =>
  withClient(database.ownerUrl, async (client) => {
    const { rows } = await client.query<{ state: string }>(
      `select jsonb_build_array(to_regclass('planted'), (select jsonb_agg(d) from installation.deployments d))::text as state`,
    );
    return rows[0]?.state;
  });

async function expectRefusals(refused: boolean): Promise<void> {
  for (const command of Object.keys(COMMANDS)) {
    const before = await readState();
    const { code, output } = await operate(command);
    if (!refused) {
      expect([command, code, output]).toEqual([command, 0, expect.any(String)]);
      continue;
    }
    expect([command, code, output]).toEqual([
      command,
      1,
      expect.stringMatching(
        command === 'take-over'
          ? /^\d+ other connections? uses? this database\. [^\n]+\n$/
          : new RegExp(
              `^[^\\n]*\\d+ connections? of the role ${database.login}\\b[^\\n]*Stop every server[^\\n]*\\n$`,
            ),
      ),
    ]);
    expect([command, await readState()]).toEqual([command, before]);
  }
}

test(
  'the owner is no superuser, and has no right on statistics',
  async () => {
    const rights = await withClient(database.urls.DATABASE_OWNER_URL, async (client) => {
      const { rows } = await client.query<Record<string, boolean>>(
        `select rolsuper, rolcreaterole, pg_has_role('pg_read_all_stats', 'usage') as statistics
         from pg_roles where rolname = current_user`,
      );
      return rows;
    });
    expect(rights).toEqual([{ rolsuper: false, rolcreaterole: false, statistics: false }]);
  },
  LIMIT_MS,
);

(PGBOUNCER ? test : test.skip)(
  `while a server runs behind pgbouncer, and while pgbouncer keeps its connections, each command is refused with one line${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
  async () => {
    pooler = await startPooler([database.urls.DATABASE_URL]);
    const server = await serve(pooler.through(database.urls.DATABASE_URL), {
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: database.urls.DATABASE_URL,
    });
    await expectRefusals(true);
    server.child.kill('SIGTERM');
    await server.ended;
    await expectRefusals(true);
  },
  LIMIT_MS,
);

test(
  'while a server runs, each command is refused with one line and changes nothing; after its end each succeeds',
  async () => {
    const server = await serve(database.urls.DATABASE_URL);
    await expectRefusals(true);
    server.child.kill('SIGTERM');
    await server.ended;
    await expectRefusals(false);
  },
  LIMIT_MS,
);
