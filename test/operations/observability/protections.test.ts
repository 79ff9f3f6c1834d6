import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { pino } from 'pino';
import { makeMetrics } from '../../../src/platform/metrics/metrics.js';
import { watchProtections } from '../../../src/startup/watch-protections.js';
import { scrape } from '../../support/readers/exposition.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { KEYS } from '../../support/rehearsal/installation.js';
import { endProcesses, freePort, run, statusOf, until } from '../../support/service/processes.js';

// Protections that are lost while a process serves.

const LIMIT_MS = 60_000;
const LOGIN = 'protections_login';
const DISABLED =
  'Row-level security of public.packages is disabled, forced; the migrations make it enabled, forced. ' +
  'Run as the owner: alter table public.packages enable row level security, force row level security;';

let database: TestDatabase;
let owner: pg.Client;
let url: string;

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const { rows } = await owner.query<{ name: string }>('select current_database() as name');
  await owner.query(
    `create role ${LOGIN} login password 'x' in role crossdock_app; revoke all on database "${rows[0]?.name}" from public;
     grant connect, temporary on database "${rows[0]?.name}" to ${LOGIN}`,
  );
  url = Object.assign(new URL(database.ownerUrl), { username: LOGIN, password: 'x' }).href;
}, LIMIT_MS);

afterEach(async () => {
  await endProcesses();
  await owner.query(
    `alter table packages enable row level security; alter role ${LOGIN} nosuperuser nocreatedb`,
  );
});

afterAll(async () => {
  await owner.end();
  await database.drop();
  const admin = new pg.Client({ connectionString: process.env['TEST_ADMIN_URL'] });
  await admin.connect();
  await admin.query(`drop role ${LOGIN}`);
  await admin.end();
});

/** Compares as a worker does, in short intervals. */
function watch(appEnv: 'production' | 'development', intervalMs: number) {
  const lines: string[] = [];
  const metrics = makeMetrics(async () => undefined);
  // pino writes one line of JSON per call.
  const write = (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg);
  const log = pino({ level: 'error' }, { write });
  const stop = watchProtections({
    config: { appEnv },
    url,
    metrics,
    intervalMs,
    log,
  });
  const gauge = async () =>
    Number(/^crossdock_protection_faults (\d+)$/m.exec(await metrics.render())?.[1] ?? NaN);
  return { lines, gauge, stop };
}

test(
  'a table without row-level security is reported with its remedy, in the gauge and in the log, until it is restored',
  async () => {
    const { lines, gauge, stop } = watch('production', 200);
    try {
      expect(await gauge()).toBe(0);
      await owner.query('alter table packages disable row level security');
      await until(async () => (await gauge()) === 1);
      expect(lines[0]).toBe(`the database has lost protections: ${DISABLED}`);
      await owner.query(`alter role ${LOGIN} createdb`);
      await until(async () => (await gauge()) === 2);
      expect(lines.at(-1)).toContain(`alter role ${LOGIN} nocreatedb;`);
      await owner.query(`alter table packages enable row level security; alter role ${LOGIN} nocreatedb`);
      await until(async () => (await gauge()) === 0);
    } finally {
      stop();
    }
  },
  LIMIT_MS,
);

test(
  'it compares at the start, and development compares nothing',
  async () => {
    await owner.query('alter table packages disable row level security');
    const production = watch('production', 3_600_000);
    const development = watch('development', 1);
    try {
      await until(async () => production.lines.length === 1);
      expect(await production.gauge()).toBe(1);
      expect([await development.gauge(), development.lines]).toEqual([0, []]);
    } finally {
      production.stop();
      development.stop();
    }
  },
  LIMIT_MS,
);

test.each(['src/worker.js', 'src/main.js'])(
  'the process %s of a release compares at its start',
  async (program) => {
    const port = await freePort();
    const process = run(program, {
      ...KEYS,
      APP_ENV: 'production',
      DATABASE_URL: url,
      TRUST_PROXY: '127.0.0.1',
      LOG_LEVEL: 'error',
      PORT: String(await freePort()),
      METRICS_PORT: String(port),
    });
    await until(async () => {
      if (process.child.exitCode !== null) throw new Error(process.output());
      return (await statusOf(`http://127.0.0.1:${port}/health`)) === 200;
    });
    const valueOf = async (name: string) => (await scrape(port)).values.get(`crossdock_${name}`) ?? 0;
    await until(async () => (await valueOf('protections_compared_timestamp_seconds')) > 1e9);
    expect(await valueOf('protection_faults')).toBe(0);
  },
  LIMIT_MS,
);
