import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { KEYS } from '../../support/rehearsal/installation.js';
import { PGBOUNCER, startPooler } from '../../support/harness/pgbouncer.js';
import { documentedDatabase, type DocumentedDatabase } from '../../support/staging/documented-database.js';
import { endProcesses, makeFolder, removeFolders, run } from '../../support/service/processes.js';

// Each command that needs the owner of the tables, with the service's login in its place.

const LIMIT_MS = 60_000;

let database: DocumentedDatabase;
let loginUrl: string;
let ownerUrl: string;
let keyFile: string;

beforeAll(async () => {
  database = await documentedDatabase();
  ({ DATABASE_URL: loginUrl, DATABASE_OWNER_URL: ownerUrl } = database.urls);
  keyFile = join(await makeFolder(), 'LOOKUP_KEY');
  await writeFile(keyFile, 'a1b2c3d4e5f60718'.repeat(4));
}, LIMIT_MS);

afterAll(async () => {
  await endProcesses();
  await database.drop();
  await removeFolders();
});

const CREATE = ['--slug', 'miami', '--name', 'Miami', '--host', 'miami.example', '--generate-password'];

const COMMANDS: [program: string, args: () => string[]][] = [
  ['tenant-create', () => CREATE],
  ['tenant-move', () => ['--slug', 'one', '--status']],
  ['reset-admin', () => ['--tenant', 'one']],
  ['remove-published', () => []],
  ['rehash', () => ['--replaced-key', keyFile]],
  ['rewrap', () => []],
  ['anonymise', () => []],
  ['outbound', () => []],
  ['restore-report', () => ['--since', '2026-01-01T10:00:00Z', '--out', join(dirname(keyFile), 'report')]],
  ['take-over', () => ['--from', 'staging', '--database', 'none']],
  ['migrate', () => []],
  ['migrate', () => ['--status']],
  ['migrate', () => ['--pause', 'none']],
];

async function runWith(env: Record<string, string>, program: string, args: string[]) {
  const running = run(`src/commands/${program}.js`, { ...KEYS, DATA_DIR: await makeFolder(), ...env }, args);
  const { code } = await running.ended;
  return { code, output: running.output() };
}

test.each(COMMANDS)(
  '%s with the login as owner names DATABASE_OWNER_URL and the role that it needs',
  async (program, args) => {
    const env = {
      DATABASE_URL: loginUrl,
      DATABASE_OWNER_URL: loginUrl,
      DATABASE_CELLS: `b=${loginUrl}`,
      DATABASE_OWNER_CELLS: `b=${loginUrl}`,
    };
    const { code, output } = await runWith(env, program, args());
    const setting = program === 'tenant-create' ? 'DATABASE_OWNER_CELLS (b)' : 'DATABASE_OWNER_URL';
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(
          `^The role ${database.login} of ${setting.replace(/[()]/g, '\\$&')} does not own the tables of the database \\w+, ` +
            `which belong to ${database.owner}\\. Set ${setting.replace(/[()]/g, '\\$&')} to a connection of the role ${database.owner}\\.\\n$`,
        ),
      ),
    ]);
  },
  LIMIT_MS,
);

const withPgbouncer = PGBOUNCER ? test : test.skip;

/** `migrate --status` and `--pause` use no lock of a session. */
const NEED_A_SESSION = COMMANDS.filter(([program, args]) => program !== 'migrate' || args().length === 0);

withPgbouncer.each(NEED_A_SESSION)(
  `%s %p through a pooler is refused with one line${PGBOUNCER ? '' : ' (skipped: pgbouncer is not installed)'}`,
  async (program, args) => {
    const pooler = await startPooler([ownerUrl]);
    try {
      const DATABASE_OWNER_URL = pooler.through(ownerUrl);
      const DATABASE_CELLS = `b=${DATABASE_OWNER_URL}`;
      const env = { DATABASE_OWNER_URL, DATABASE_CELLS, DATABASE_OWNER_CELLS: DATABASE_CELLS };
      const { code, output } = await runWith(env, program, args());
      expect([code, output]).toEqual([
        1,
        expect.stringMatching(
          /^[^\n]+ leads to a connection pooler: set it to a connection to PostgreSQL itself\n$/,
        ),
      ]);
    } finally {
      await pooler.stop();
    }
  },
  LIMIT_MS,
);

test(
  'without DATABASE_OWNER_URL the line says that DATABASE_URL was used in its place',
  async () => {
    const { code, output } = await runWith({ DATABASE_URL: loginUrl }, 'tenant-create', CREATE);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(
        /of DATABASE_URL, because DATABASE_OWNER_URL is not set, does not own the tables .* Set DATABASE_OWNER_URL to /,
      ),
    ]);
  },
  LIMIT_MS,
);

test(
  'a database without tables is named as such',
  async () => {
    const url = Object.assign(new URL(ownerUrl), { pathname: '/postgres' }).href;
    const { code, output } = await runWith({ DATABASE_OWNER_URL: url }, 'tenant-create', CREATE);
    expect([code, output]).toEqual([
      1,
      expect.stringMatching(/^The database of DATABASE_OWNER_URL has no tables\. .*migrate/),
    ]);
  },
  LIMIT_MS,
);
