import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../fixtures/demo/seed.js';
import { deleteExpired } from '../../src/jobs/retention.js';
import { recoverJobs } from '../../src/platform/queue/worker-pools.js';
import { requeue } from '../../src/jobs/requeue.js';
import { expectSuccess } from '../support/assertions/scenario.js';
import { endProcesses, removeFolders, run, until, type Running } from '../support/service/processes.js';
import { accept, hang, startReceiver, type Received, type Receiver } from '../support/receivers/receiver.js';
import { startService, type Service } from '../support/service/service.js';
import { setEndpoints } from '../support/receivers/webhooks.js';

const { IEX } = DEMO.couriers;

/** A service and a receiver of its courier's webhooks. */
type Site = { service: Service; receiver: Receiver };

let service: Service;
let receiver: Receiver;
/** Slow checks: each starts before the tests with a site of its own, and its test awaits it. */
const WAITS = { crashedWorker, hangingReceiver, lostWakeUp };
const waits = new Map<keyof typeof WAITS, Promise<void>>();
const sites: Site[] = [];

beforeAll(async () => {
  ({ service, receiver } = await openSite());
  for (const name of ['crashedWorker', 'hangingReceiver', 'lostWakeUp'] as const) {
    const wait = WAITS[name](await openSite());
    wait.catch(() => {});
    waits.set(name, wait);
  }
}, 60_000);

afterEach(async () => {
  await service.owner.query(
    'delete from webhook_deliveries; delete from package_syncs; delete from graphile_worker._private_jobs; delete from queue.worker_pools',
  );
  receiver.received.length = 0;
});

afterAll(async () => {
  await Promise.allSettled(waits.values());
  await endProcesses();
  for (const site of sites) {
    await site.receiver.stop();
    await site.service.stop();
  }
  await removeFolders();
}, 120_000);

async function openSite(): Promise<Site> {
  const site = { service: await startService(), receiver: await startReceiver() };
  sites.push(site);
  const { owner, app } = site.service;
  const urls = { add: `${site.receiver.url}/add`, update: `${site.receiver.url}/update` };
  await setEndpoints({ owner, secrets: app.secrets }, { courierId: IEX, ...urls });
  return site;
}

let scans = 0;
async function receive(on = service): Promise<string> {
  const body = { tracking_number: `BACK-${(scans += 1)}`, weight: 1, user_code: 'IEX-1001' };
  const reply = await on.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return reply.body['data'].package_id;
}

const count = (what: string, ...values: unknown[]): Promise<number> => countOn(service, what, ...values);

async function countOn({ owner }: Service, what: string, ...values: unknown[]): Promise<number> {
  const { rows } = await owner.query<{ n: number }>(`select count(*)::int as n from ${what}`, values);
  return rows[0]?.n ?? -1;
}

const startWorker = ({ owner }: Service): Running =>
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
  test('is compensated by the requeue job, which sends due deliveries of every tenant', () =>
    expectSuccess(waits.get('lostWakeUp')));

  test('without due deliveries, the requeue job adds no job', async () => {
    await requeue({ db: service.db });
    expect(await count('graphile_worker._private_jobs')).toBe(0);
  });
});

describe('a crashed worker', () => {
  test(
    'loses its delivery queues to other workers after three missed heartbeats, and its claimed deliveries after half a minute',
    () => expectSuccess(waits.get('crashedWorker')),
    90_000,
  );

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
    expectSuccess(waits.get('hangingReceiver')));
});

/** Waits for the next minute if it begins within this time. The worker runs the requeue job with each minute. */
async function awayFromTheMinute(withinMs: number): Promise<void> {
  const leftMs = 60_000 - (Date.now() % 60_000);
  if (leftMs < withinMs) await sleep(leftMs + 1_000);
}

async function lostWakeUp({ service, receiver }: Site): Promise<void> {
  await awayFromTheMinute(10_000);
  await receive(service);
  await service.owner.query('delete from graphile_worker._private_jobs');
  const worker = startWorker(service);
  await until(async () => (await countOn(service, 'queue.worker_pools')) === 1);
  // A worker looks for jobs each second.
  await sleep(1_500);
  expect(receiver.received).toEqual([]);
  await requeue({ db: service.db });
  await until(async () => receiver.received.length === 1);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toEqual({ code: 0, signal: null });
}

async function crashedWorker({ service, receiver }: Site): Promise<void> {
  receiver.answer = hang;
  const victim = startWorker(service);
  await receive(service);
  await until(async () => receiver.received.length === 1);
  victim.child.kill('SIGKILL');
  await victim.ended;
  const claimedUntilMs = await shortenClaim(service);
  receiver.answer = accept;
  // Deliveries that were not claimed wait only for the delivery queue.
  await receive(service);
  startWorker(service);
  const [first] = receiver.received;
  const idOf = ({ headers }: Received) => headers['webhook-id'];
  const sent = (isAgain: boolean) =>
    receiver.received.slice(1).find((request) => (idOf(request) === idOf(first as Received)) === isAgain);
  await until(async () => sent(true) !== undefined);
  // Test and PostgreSQL share one clock.
  const atMs = (isAgain: boolean) => performance.timeOrigin + (sent(isAgain)?.atMs ?? Infinity);
  expect(atMs(false)).toBeLessThan(claimedUntilMs);
  expect(atMs(true)).toBeGreaterThan(claimedUntilMs);
  expect(receiver.received).toHaveLength(3);
  await until(async () => (await countOn(service, "webhook_deliveries where status = 'delivered'")) === 2);
  // A new job replaced the locked job of the dead worker. The old one has no key, and `requeue` deletes it.
  const current = 'graphile_worker.jobs where key is not null or locked_at is not null';
  await until(async () => (await countOn(service, current)) === 0);
  await requeue({ db: service.db });
  expect(await countOn(service, 'graphile_worker.jobs')).toBe(0);
}

/** Lets the only claim end in 12 seconds, as if the rest of its half minute had passed. Returns its new end. */
async function shortenClaim({ owner }: Service): Promise<number> {
  const { rows: before } = await owner.query<{ left_s: number }>(
    `select extract(epoch from claimed_until - now())::float as left_s
     from webhook_deliveries where claimed_until is not null`,
  );
  expect(before).toHaveLength(1);
  expect(before[0]?.left_s).toBeGreaterThan(15);
  expect(before[0]?.left_s).toBeLessThanOrEqual(30);
  const { rows } = await owner.query<{ claimed_until: Date }>(
    `update webhook_deliveries set claimed_until = now() + interval '12 seconds'
     where claimed_until is not null returning claimed_until`,
  );
  return rows[0]?.claimed_until.getTime() ?? Infinity;
}

async function hangingReceiver({ service, receiver }: Site): Promise<void> {
  receiver.answer = hang;
  const worker = startWorker(service);
  await receive(service);
  await until(async () => receiver.received.length === 1);
  const signalMs = performance.now();
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - signalMs).toBeLessThan(9_500);
  expect(await countOn(service, 'graphile_worker._private_jobs where locked_by is not null')).toBe(0);
  // The service aborted the request, so it is not counted as a failed attempt.
  expect(await countOn(service, 'webhook_attempts')).toBe(0);
}
