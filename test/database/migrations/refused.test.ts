import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { listMigrations, MIGRATIONS } from '../../../src/platform/db/migrations/migration-files.js';
import { copyOfThisVersion } from '../../support/rehearsal/releases.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import {
  endProcesses,
  freePort,
  removeFolders,
  runProgram,
  run,
  statusOf,
  until,
} from '../../support/service/processes.js';
import { matching } from '../../support/assertions/matching.js';

// The command that migrates a real database, in a copy of this version with other scripts.

const LIMIT_MS = 120_000;
const NEXT = '20990101000000_stop';
const STOP = '-- upgrade: stop\n-- because: a test\ncreate table planted (id int);';

let database: TestDatabase;
let owner: pg.Client;
let version: string;

beforeAll(async () => {
  version = await copyOfThisVersion({});
}, LIMIT_MS);

beforeEach(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  owner.on('error', () => undefined);
  await owner.connect();
});

afterEach(async () => {
  await endProcesses();
  await owner.end();
  await database.drop();
});

afterAll(removeFolders);

/** Runs the command to its end. Returns its code and its output. */
async function migrate(folder: string, ...args: string[]) {
  const program = runProgram(
    process.execPath,
    [join(folder, 'dist', 'src', 'commands', 'migrate.js'), ...args],
    {
      PATH: process.env['PATH'],
      APP_ENV: 'development',
      DATABASE_OWNER_URL: database.ownerUrl,
    },
  );
  const { code } = await program.ended;
  return { code, output: program.output() };
}

const plant = (script: string): Promise<string> => copyOfThisVersion({ migrations: { [NEXT]: script } });

const isPlanted = async () =>
  (await owner.query<{ found: string | null }>("select to_regclass('planted')::text as found")).rows[0]
    ?.found === 'planted';

/** Starts the entry point of a release, and waits until it uses the database. */
async function startProcess(program: 'src/main.js' | 'src/worker.js') {
  const port = String(await freePort());
  const isServer = program === 'src/main.js';
  const env = { DATABASE_URL: database.ownerUrl, PORT: port, RUN_WORKER: 'false' };
  const started = run(program, { ...env, METRICS_PORT: isServer ? '0' : port });
  await until(async () => {
    if (started.child.exitCode !== null) throw new Error(started.output());
    return (await statusOf(`http://127.0.0.1:${port}/${isServer ? 'ready' : 'health'}`)) === 200;
  });
  await until(async () => {
    const { rowCount } = await owner.query(
      "select from pg_stat_activity where datname = current_database() and application_name = 'crossdock'",
    );
    return rowCount !== null && rowCount > 0;
  });
  return started;
}

test.each(['src/main.js', 'src/worker.js'] as const)(
  'a migration that needs a stop is refused while %s runs, and applied after it has ended',
  async (program) => {
    const folder = await plant(STOP);
    const { child, ended } = await startProcess(program);
    const refused = await migrate(folder);
    expect(refused).toEqual({
      code: 1,
      output: expect.stringMatching(
        new RegExp(
          `^The running version does not survive ${NEXT}, and processes use the database: \\d+ connections? of the role \\w+.*` +
            'Nothing is applied\\. Stop every server and worker, .*--despite-running-processes\\.\\n$',
        ),
      ),
    });
    expect(await isPlanted()).toBe(false);

    child.kill('SIGTERM');
    await ended;
    expect(await migrate(folder)).toEqual({ code: 0, output: `Applied ${NEXT}.\n` });
    expect(await isPlanted()).toBe(true);
  },
  LIMIT_MS,
);

test(
  'the option applies it while processes run, and other migrations need no option',
  async () => {
    await startProcess('src/worker.js');
    const rolling = await plant('-- upgrade: rolling\ncreate table harmless (id int);');
    expect(await migrate(rolling)).toMatchObject({ code: 0 });
    await owner.query('delete from _prisma_migrations where migration_name = $1', [NEXT]);
    const folder = await plant(STOP);
    expect(await migrate(folder, '--despite-running-processes')).toMatchObject({ code: 0 });
    const { rows } = await owner.query('select logs from _prisma_migrations where migration_name = $1', [
      NEXT,
    ]);
    expect(rows).toEqual([{ logs: 'upgrade: stop' }]);
  },
  LIMIT_MS,
);

test(
  'a login of the service without the name of our pools counts too, as through a pooler',
  async () => {
    const folder = await plant(STOP);
    await owner.query(`create role refused_login login password 'x' in role crossdock_app`);
    const url = Object.assign(new URL(database.ownerUrl), { username: 'refused_login', password: 'x' });
    const login = new pg.Client({ connectionString: url.href });
    await login.connect();
    try {
      const refused = await migrate(folder);
      expect(refused).toMatchObject({
        code: 1,
        output: expect.stringContaining('1 connection of the role refused_login'),
      });
    } finally {
      await login.end();
      await owner.query('drop role refused_login');
    }
  },
  LIMIT_MS,
);

test(
  'a worker that is only known by its heartbeat counts, until it has missed three',
  async () => {
    const folder = await plant(STOP);
    await owner.query("insert into queue.worker_pools (id, seen_at) values ('away', now())");
    expect(await migrate(folder)).toMatchObject({
      code: 1,
      output: expect.stringContaining('1 worker with a heartbeat in the last 45 s'),
    });
    await owner.query("update queue.worker_pools set seen_at = now() - interval '46 s'");
    expect(await migrate(folder)).toMatchObject({ code: 0 });
  },
  LIMIT_MS,
);

test(
  'a script that differs from the applied one is refused, although nothing is missing',
  async () => {
    const [first = ''] = await listMigrations(MIGRATIONS);
    const path = join(version, 'prisma', 'migrations', first, 'migration.sql');
    expect(await migrate(version)).toEqual({ code: 0, output: 'Nothing to apply.\n' });
    await appendFile(path, '\n-- edited\n');
    expect(await migrate(version)).toEqual({
      code: 1,
      output:
        `${first} is not the script that was applied. Nothing is applied. Install the release again. ` +
        'If the script was changed on purpose, compare the schema with it.\n',
    });
    const next = join(version, 'prisma', 'migrations', NEXT);
    await mkdir(next);
    await writeFile(join(next, 'migration.sql'), '-- upgrade: rolling\ncreate table planted (id int);');
    expect(await migrate(version)).toMatchObject({ code: 1 });
    expect(await isPlanted()).toBe(false);
  },
  LIMIT_MS,
);

test(
  'with a search_path of the database, migrate, the doctor, its --upgrade and a start name the setting',
  async () => {
    const { rows } = await owner.query<{ name: string }>('select current_database() as name');
    const name = rows[0]?.name ?? '';
    await owner.query(`create schema evil; alter database "${name}" set search_path = evil`);
    const fault = 'The schemas that search_path names are pg_catalog, evil, not pg_catalog, public';
    const remedy = `alter database ${name} reset search_path;`;
    const env = { DATABASE_URL: database.ownerUrl, DATABASE_OWNER_URL: database.ownerUrl };
    const programs: [file: string, args: string[], code: number][] = [
      ['src/commands/migrate.js', [], 1],
      ['src/commands/migrate.js', ['--status'], 1],
      ['src/commands/doctor.js', [], 1],
      ['src/commands/doctor.js', ['--upgrade'], 5],
      ['src/main.js', [], 1],
      ['src/worker.js', [], 1],
    ];
    for (const [file, args, code] of programs) {
      const program = run(file, { ...env, PORT: String(await freePort()) }, args);
      const ending = await program.ended;
      expect([file, args, ending.code, program.output()]).toEqual([
        file,
        args,
        code,
        expect.stringContaining(fault),
      ]);
      expect(program.output()).toContain(remedy);
      expect(program.output()).not.toMatch(
        matching(/lacks|is missing|database is new/, 'The database lacks (45 migrations)'),
      );
    }
    expect((await owner.query("select from pg_tables where schemaname = 'evil'")).rowCount).toBe(0);
  },
  LIMIT_MS,
);
