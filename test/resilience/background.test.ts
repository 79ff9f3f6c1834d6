import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../src/development/demo/seed.js';
import { deleteExpired } from '../../src/jobs/retention.js';
import { recoverJobs } from '../../src/platform/queue/worker-pools.js';
import { requeue } from '../../src/jobs/requeue.js';
import { endProcesses, removeFolders, run, until, type Running } from '../support/service/processes.js';
import { accept, hang, startReceiver, type Receiver } from '../support/receivers/receiver.js';
import { startService, type Service } from '../support/service/service.js';
import { setEndpoints } from '../support/receivers/webhooks.js';

const { IEX } = DEMO.couriers;
let service: Service;
let receiver: Receiver;

/** Workers of the shared database. Each ends with its test. */
const workers: Running[] = [];
/** Most of this test is waiting, so it runs beside the others, with a database of its own. */
let terminated: Promise<void>;

beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  await setUrls(service, receiver);
  terminated = terminateDuringDelivery();
  // The test that waits for it reports its failure.
  terminated.catch(() => {});
});

const setUrls = ({ owner, app: { secrets } }: Service, { url }: Receiver) =>
  setEndpoints({ owner, secrets }, { courierId: IEX, add: `${url}/add`, update: `${url}/update` });

afterEach(async () => {
  for (const { child, ended } of workers.splice(0)) {
    child.kill('SIGTERM');
    await ended;
  }
  await service.owner.query(
    'delete from webhook_deliveries; delete from package_syncs; delete from graphile_worker._private_jobs; delete from queue.worker_pools',
  );
  receiver.received.length = 0;
  receiver.answer = accept;
});

afterAll(async () => {
  await Promise.allSettled([terminated]);
  await endProcesses();
  await receiver.stop();
  await service.stop();
  await removeFolders();
});

let scans = 0;
async function receive(at = service): Promise<string> {
  const body = { tracking_number: `BACK-${(scans += 1)}`, weight: 1, user_code: 'IEX-1001' };
  const reply = await at.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return reply.body['data'].package_id;
}

const count = (what: string, ...values: unknown[]) => countAt(service, what, ...values);

async function countAt({ owner }: Service, what: string, ...values: unknown[]): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`select count(*)::int as n from ${what}`, values);
  return rows[0]?.n ?? -1;
}

function startWorker(): Running {
  const worker = runWorker(service);
  workers.push(worker);
  return worker;
}

const runWorker = ({ owner }: Service): Running =>
  run('src/worker.js', {
    DATABASE_URL: String(owner.options.connectionString),
    LOG_LEVEL: 'silent',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    OUTBOUND_REQUESTS_PER_SECOND: '100000',
    WORKER_HEARTBEAT_SECONDS: '1',
  });

describe('retention', () => {
  const stopping = new AbortController().signal;
  const deleteOld = () => deleteExpired({ db: service.db, stopping });

  test('deletes records past their retention period in every tenant, and no younger ones', async () => {
    const { owner } = service;
    const [old, young] = [await receive(), await receive()];
    const settle = "status = 'delivered', next_attempt_at = null, settled_at = now()";
    await owner.query(`update webhook_deliveries set ${settle}`);
    const age = (table: string, column: string, days: number, where: string) =>
      owner.query(`update ${table} set ${column} = now() - make_interval(days => $1) where ${where}`, [days]);
    await age('webhook_deliveries', 'created_at', 29, 'true');
    await deleteOld();
    expect(await count('webhook_deliveries')).toBe(2);
    await age(
      'webhook_deliveries',
      'created_at',
      31,
      `event_id in (select id from events where package_id = '${old}')`,
    );
    await deleteOld();
    expect(await count('webhook_deliveries')).toBe(1);
    expect(await count('events where package_id = any($1)', [old, young])).toBe(2);

    await age('events', 'occurred_at', 91, 'true');
    await deleteOld();
    // The younger event still has a delivery in the log.
    expect(await count('events where package_id = $1', old)).toBe(0);
    expect(await count('events where package_id = $1', young)).toBe(1);
  });

  test('keeps pending deliveries of any age', async () => {
    const packageId = await receive();
    await service.owner.query("update webhook_deliveries set created_at = now() - interval '1 year'");
    await service.owner.query("update events set occurred_at = now() - interval '1 year'");
    await deleteOld();
    expect(
      await count(
        'webhook_deliveries d join events e on e.id = d.event_id where e.package_id = $1',
        packageId,
      ),
    ).toBe(1);
  });

  test('deletes expired login throttles and pre-authentication tokens, and no others', async () => {
    const { owner } = service;
    await owner.query(
      `insert into login_throttles (tenant_id, kind, subject, failures, locked_until, updated_at) values
        ($1, 'password', 'over', 3, null, now() - interval '25 hours'),
        ($1, 'password', 'locked', 5, now() + interval '1 hour', now() - interval '25 hours'),
        ($1, 'password', 'fresh', 2, null, now() - interval '23 hours')`,
      [DEMO.tenants.demo],
    );
    await owner.query(
      `insert into preauth_tokens (tenant_id, token_hash, user_id, expires_at)
       select tenant_id, 'old', id, now() - interval '2 hours' from users where username = 'guarded'
       union all select tenant_id, 'new', id, now() - interval '2 minutes' from users where username = 'guarded'`,
    );
    await deleteOld();
    const { rows } = await owner.query('select subject from login_throttles order by subject');
    expect(rows).toEqual([{ subject: 'fresh' }, { subject: 'locked' }]);
    expect((await owner.query('select token_hash from preauth_tokens')).rows).toEqual([
      { token_hash: 'new' },
    ]);
  });

  test('deletes more rows than one statement deletes', async () => {
    await service.owner.query(
      `insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status, created_at)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), 'MAN-20250101-AAAA', 'ready', now() - interval '91 days'
       from generate_series(1, 12000)`,
      [DEMO.tenants.demo, IEX],
    );
    await deleteOld();
    expect(await count('manifest_mails')).toBe(0);
  });
});

describe('a lost wake-up', () => {
  test('is compensated by the requeue job, which sends due deliveries of every tenant', async () => {
    await receive();
    await service.owner.query('delete from graphile_worker._private_jobs');
    startWorker();
    await until(async () => (await count('queue.worker_pools')) === 1);
    await sleep(1_500);
    expect(receiver.received).toEqual([]);
    await requeue({ db: service.db });
    await until(async () => receiver.received.length === 1);
  });

  test('without due deliveries, the requeue job adds no job', async () => {
    await requeue({ db: service.db });
    expect(await count('graphile_worker._private_jobs')).toBe(0);
  });
});

describe('a crashed worker', () => {
  test('loses its delivery queues to other workers after three missed heartbeats, and its claimed deliveries after half a minute', async () => {
    receiver.answer = hang;
    const victim = startWorker();
    await receive();
    await until(async () => receiver.received.length === 1);
    victim.child.kill('SIGKILL');
    await victim.ended;
    const killedMs = performance.now();
    receiver.answer = accept;
    // Deliveries that were not claimed wait only for the delivery queue.
    await receive();
    startWorker();
    await until(async () => receiver.received.length >= 2);
    const passedMs = performance.now() - killedMs;
    expect(passedMs).toBeLessThan(20_000);
    // The queue is woken when the claim ends. Then let 30 seconds pass for the claim and for that job.
    await until(async () => (await count('graphile_worker.jobs where run_at > now()')) === 1);
    const { rows } = await service.owner.query<{ claimedMs: number; wakesAfterMs: number }>(
      `select extract(epoch from claimed_until - now())::float * 1000 as "claimedMs",
         extract(epoch from (select max(run_at) from graphile_worker.jobs) - claimed_until)::float * 1000 as "wakesAfterMs"
       from webhook_deliveries where status = 'pending'`,
    );
    expect(rows).toHaveLength(1);
    expect(Number(rows[0]?.claimedMs) + passedMs).toBeGreaterThan(15_000);
    expect(Number(rows[0]?.claimedMs) + passedMs).toBeLessThan(45_000);
    expect(Math.abs(Number(rows[0]?.wakesAfterMs))).toBeLessThan(1_000);
    expect(receiver.received).toHaveLength(2);
    await service.owner.query(
      `with aged as (update webhook_deliveries set claimed_until = claimed_until - interval '30 seconds' where status = 'pending')
       update graphile_worker._private_jobs set run_at = run_at - interval '30 seconds' where run_at > now()`,
    );
    await until(async () => receiver.received.length >= 3);
    const [first, , again] = receiver.received;
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await until(async () => (await count("webhook_deliveries where status = 'delivered'")) === 2);
    // A new job replaced the locked job of the dead worker. The old one has no key, and `requeue` deletes it.
    await until(
      async () => (await count('graphile_worker.jobs where key is not null or locked_at is not null')) === 0,
    );
    await requeue({ db: service.db });
    expect(await count('graphile_worker.jobs')).toBe(0);
  }, 90_000);

  test('a live worker keeps its jobs, however long they take', async () => {
    await service.owner.query(
      `insert into queue.worker_pools (id, seen_at) values ('living', now()), ('silent', now() - interval '7 seconds')`,
    );
    await receive();
    const lockAs = (pool: string) =>
      service.owner.query(
        `update graphile_worker._private_jobs set locked_by = $1, locked_at = now() - interval '1 hour'`,
        [pool],
      );
    await lockAs('living');
    expect(await recoverJobs(service.owner, 2)).toBe(0);
    await lockAs('silent');
    expect(await recoverJobs(service.owner, 2)).toBe(1);
    expect(await count('graphile_worker._private_jobs where locked_by is null')).toBe(1);
  });

  test('on SIGTERM a worker exits in time although a receiver hangs, and leaves no job locked', () =>
    terminated);
});

async function terminateDuringDelivery(): Promise<void> {
  const own = await startService();
  const hanging = await startReceiver(hang);
  try {
    await setUrls(own, hanging);
    const worker = runWorker(own);
    await receive(own);
    await until(async () => hanging.received.length === 1);
    const signalMs = performance.now();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalMs).toBeLessThan(9_500);
    expect(await countAt(own, 'graphile_worker._private_jobs where locked_by is not null')).toBe(0);
    // The service aborted the request, so it is not counted as a failed attempt.
    expect(await countAt(own, 'webhook_attempts')).toBe(0);
  } finally {
    await hanging.stop();
    await own.stop();
  }
}
