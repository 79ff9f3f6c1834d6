import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Tasks } from '../../../src/platform/queue/runner.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { until } from '../../support/service/processes.js';
import { startQueue, type QueueProcess } from '../../support/workers/start-queue.js';

// When jobs end, and PostgreSQL does not record it. The library (graphile-worker 0.17.3, its issue 636) then stops its runner, and waits
// for ever if a second end follows: its jobs stayed locked by a process that lived.

const LIMIT_MS = 120_000;

let database: TestDatabase;
let owner: pg.Pool;
let worker: QueueProcess;

/** Ends the running attempt of a job. A job whose first attempt has ended succeeds at once. */
const ends = new Map<string, (error?: Error) => void>();
const attempts = new Map<string, number>();

const tasks: Partial<Tasks> = {
  async sendManifestMail({ mailId }) {
    const attempt = (attempts.get(mailId) ?? 0) + 1;
    attempts.set(mailId, attempt);
    if (attempt > 1) return;
    await new Promise<void>((resolve, reject) =>
      ends.set(mailId, (error) => (error ? reject(error) : resolve())),
    );
  },
};

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  worker = startQueue(database.ownerUrl, tasks);
}, LIMIT_MS);

beforeEach(() => {
  ends.clear();
  attempts.clear();
});

afterAll(async () => {
  const isQuiet = await worker.end();
  await owner.end();
  await database.drop();
  expect(isQuiet).toBe(true);
}, LIMIT_MS);

const FAILED = new Error('planted');

test.each([
  ['two failures', [FAILED, FAILED]],
  ['two successes', [undefined, undefined]],
  ['a failure and a success', [FAILED, undefined]],
  ['four failures', [FAILED, FAILED, FAILED, FAILED]],
])(
  '%s that are not recorded: the jobs run again, in the same process',
  async (_title, outcomes) => {
    const names = outcomes.map((_, index) => `job ${index}`);
    await owner.query(
      `select graphile_worker.add_job('sendManifestMail', json_build_object('tenantId', '1', 'mailId', name))
       from unnest($1::text[]) as name`,
      [names],
    );
    await until(async () => ends.size === outcomes.length);
    await owner.query('revoke update, delete on graphile_worker._private_jobs from crossdock_app');
    for (const [index, outcome] of outcomes.entries()) {
      ends.get(`job ${index}`)?.(outcome);
      // Each is recorded by itself.
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await owner.query('grant update, delete on graphile_worker._private_jobs to crossdock_app');
    await until(async () => (await countJobs()) === 0, 30_000);
    expect([...attempts.values()]).toEqual(outcomes.map(() => 2));
    await until(async () => (await countListeners()) === 1);
  },
  LIMIT_MS,
);

async function count(what: string): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`select count(*)::int as n from ${what}`);
  return rows[0]?.n ?? -1;
}

const countJobs = () => count("graphile_worker.jobs where task_identifier = 'sendManifestMail'");
/** A runner that is left must not keep its connection. */
const countListeners = () =>
  count(`pg_stat_activity where datname = current_database() and query like 'LISTEN%'`);
