import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Tasks } from '../../../src/platform/queue/runner.js';
import { freshDatabase, type TestDatabase } from '../../support/service/database.js';
import { until } from '../../support/service/processes.js';
import { startQueue, type QueueProcess } from '../../support/workers/start-queue.js';

// Processes whose heartbeats PostgreSQL did not record for longer than three of them, and that went on working.

const LIMIT_MS = 120_000;
const HEARTBEAT_S = 1;
const JOB_MS = 9_000;

let database: TestDatabase;
let owner: pg.Pool;
const processes: QueueProcess[] = [];
const starts: string[] = [];
let ended = 0;

const tasks: Partial<Tasks> = {
  async sendManifestMail({ mailId }) {
    starts.push(mailId);
    await sleep(JOB_MS);
    ended += 1;
  },
};

beforeAll(async () => {
  database = await freshDatabase();
  owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
  await owner.query(`
    create table planted (id text primary key);
    grant select on planted to public;
    create function refuse_heartbeat() returns trigger language plpgsql as $$
      begin
        if exists (select from planted where id in ('all', new.id)) then raise exception 'planted'; end if;
        return new;
      end $$;
    create trigger refuse_heartbeat before insert on queue.worker_pools for each row execute function refuse_heartbeat()`);
}, LIMIT_MS);

afterAll(async () => {
  for (const each of processes) await each.end();
  await owner.end();
  await database.drop();
}, LIMIT_MS);

const startProcess = () => void processes.push(startQueue(database.ownerUrl, tasks));

test(
  'after an outage the first process does not take the others for dead: their running jobs run once',
  async () => {
    startProcess();
    await until(async () => (await recentPools()).length === 1);
    const [first = ''] = await recentPools();
    await owner.query(
      `select graphile_worker.add_job('sendManifestMail', '{"tenantId": "1", "mailId": "long"}')`,
    );
    await until(async () => starts.length === 1);
    startProcess();
    await until(async () => (await recentPools()).length === 2);

    await owner.query("insert into planted values ('all')");
    await until(async () => (await recentPools()).length === 0);
    // The connection of the first process comes back a moment later than the other's.
    await owner.query('update planted set id = $1', [first]);
    await until(async () => (await recentPools()).length === 1);
    expect(await recentPools()).not.toContain(first);
    await sleep(300);
    await owner.query('delete from planted');
    await until(async () => ended > 0 && (await countJobs()) === 0, 30_000);
    expect(starts).toEqual(['long']);
  },
  LIMIT_MS,
);

/** Returns the processes that have not missed three heartbeats. */
async function recentPools(): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>(
    'select id from queue.worker_pools where seen_at > now() - make_interval(secs => $1)',
    [3 * HEARTBEAT_S],
  );
  return rows.map(({ id }) => id);
}

async function countJobs(): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(
    "select count(*)::int as n from graphile_worker.jobs where task_identifier = 'sendManifestMail'",
  );
  return rows[0]?.n ?? -1;
}
