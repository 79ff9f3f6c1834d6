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

beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
  const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
  await setEndpoints({ owner: service.owner, secrets: service.app.secrets }, { courierId: IEX, ...urls });
});

afterEach(async () => {
  await endProcesses();
  await service.owner.query(
    'delete from webhook_deliveries; delete from package_syncs; delete from graphile_worker._private_jobs; delete from queue.worker_pools',
  );
  receiver.received.length = 0;
  receiver.answer = accept;
});

afterAll(async () => {
  await receiver.stop();
  await service.stop();
  await removeFolders();
});

let scans = 0;
async function receive(): Promise<string> {
  const body = { tracking_number: `BACK-${(scans += 1)}`, weight: 1, user_code: 'IEX-1001' };
  const reply = await service.call('receivePackage', { as: 'warehouse', body });
  expect(reply.status).toBe(201);
  return reply.body['data'].package_id;
}

async function count(what: string, ...values: unknown[]): Promise<number> {
  const { rows } = await service.owner.query<{ n: number }>(`select count(*)::int as n from ${what}`, values);
  return rows[0]?.n ?? -1;
}

const startWorker = (env: Record<string, string> = {}): Running =>
  run('src/worker.js', {
    DATABASE_URL: String(service.owner.options.connectionString),
    LOG_LEVEL: 'silent',
    OUTBOUND_ALLOW_LOOPBACK: 'true',
    OUTBOUND_REQUESTS_PER_SECOND: '100000',
    WORKER_HEARTBEAT_SECONDS: '2',
    ...env,
  });

describe('pruning', () => {
  const stopping = new AbortController().signal;
  const pruned = () => deleteExpired({ db: service.db, stopping });

  test('deletes what is past its keeping, tenant by tenant, and nothing that is younger', async () => {
    const { owner } = service;
    const [old, young] = [await receive(), await receive()];
    const settle = "status = 'delivered', next_attempt_at = null, settled_at = now()";
    await owner.query(`update webhook_deliveries set ${settle}`);
    const age = (table: string, column: string, days: number, where: string) =>
      owner.query(`update ${table} set ${column} = now() - make_interval(days => $1) where ${where}`, [days]);
    await age('webhook_deliveries', 'created_at', 29, 'true');
    await pruned();
    expect(await count('webhook_deliveries')).toBe(2);
    await age(
      'webhook_deliveries',
      'created_at',
      31,
      `event_id in (select id from events where package_id = '${old}')`,
    );
    await pruned();
    expect(await count('webhook_deliveries')).toBe(1);
    expect(await count('events where package_id = any($1)', [old, young])).toBe(2);

    await age('events', 'occurred_at', 91, 'true');
    await pruned();
    // the young one still has its delivery in the log
    expect(await count('events where package_id = $1', old)).toBe(0);
    expect(await count('events where package_id = $1', young)).toBe(1);
  });

  test('leaves alone what is still to be sent, however old', async () => {
    const packageId = await receive();
    await service.owner.query("update webhook_deliveries set created_at = now() - interval '1 year'");
    await service.owner.query("update events set occurred_at = now() - interval '1 year'");
    await pruned();
    expect(
      await count(
        'webhook_deliveries d join events e on e.id = d.event_id where e.package_id = $1',
        packageId,
      ),
    ).toBe(1);
  });

  test('ends counts of failed logins that are over, and no others, and tickets that have run out', async () => {
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
    await pruned();
    const { rows } = await owner.query('select subject from login_throttles order by subject');
    expect(rows).toEqual([{ subject: 'fresh' }, { subject: 'locked' }]);
    expect((await owner.query('select token_hash from preauth_tokens')).rows).toEqual([
      { token_hash: 'new' },
    ]);
  });

  test('more than one statement takes at once', async () => {
    await service.owner.query(
      `insert into manifest_mails (tenant_id, id, courier_id, manifest_id, manifest_number, manifest_status, created_at)
       select $1, gen_random_uuid(), $2, gen_random_uuid(), 'MAN-20250101-AAAA', 'ready', now() - interval '91 days'
       from generate_series(1, 12000)`,
      [DEMO.tenants.demo, IEX],
    );
    await pruned();
    expect(await count('manifest_mails')).toBe(0);
  });
});

describe('a wake-up that was lost', () => {
  test('is made good by the sweep: what is due is sent, in every tenant', async () => {
    await receive();
    await service.owner.query('delete from graphile_worker._private_jobs');
    startWorker();
    await until(async () => (await count('queue.worker_pools')) === 1);
    await sleep(1_500);
    expect(receiver.received).toEqual([]);
    await requeue({ db: service.db });
    await until(async () => receiver.received.length === 1);
  });

  test('wakes nobody where nothing is due', async () => {
    await requeue({ db: service.db });
    expect(await count('graphile_worker._private_jobs')).toBe(0);
  });
});

describe('a worker that is killed', () => {
  test('has its work taken over: after three missed beats its lanes, after half a minute what it was sending', async () => {
    receiver.answer = hang;
    const victim = startWorker();
    await receive();
    await until(async () => receiver.received.length === 1);
    victim.child.kill('SIGKILL');
    await victim.ended;
    const killedMs = performance.now();
    receiver.answer = accept;
    // what had not been begun waits for no more than the lane
    await receive();
    startWorker();
    await until(async () => receiver.received.length >= 2);
    expect(performance.now() - killedMs).toBeLessThan(20_000);
    await until(async () => receiver.received.length >= 3, 45_000);
    expect(performance.now() - killedMs).toBeGreaterThan(15_000);
    const [first, , again] = receiver.received;
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await until(async () => (await count("webhook_deliveries where status = 'delivered'")) === 2);
    // the dead worker's own job was followed by another: nobody will do it, and nobody need look into it
    await until(
      async () => (await count('graphile_worker.jobs where key is not null or locked_at is not null')) === 0,
    );
    await requeue({ db: service.db });
    expect(await count('graphile_worker.jobs')).toBe(0);
  }, 90_000);

  test('one that lives keeps its work, however long it takes', async () => {
    await service.owner.query(
      `insert into queue.worker_pools (id, seen_at) values ('living', now()), ('silent', now() - interval '7 seconds')`,
    );
    await receive();
    const hold = (pool: string) =>
      service.owner.query(
        `update graphile_worker._private_jobs set locked_by = $1, locked_at = now() - interval '1 hour'`,
        [pool],
      );
    await hold('living');
    expect(await recoverJobs(service.owner, 2)).toBe(0);
    await hold('silent');
    expect(await recoverJobs(service.owner, 2)).toBe(1);
    expect(await count('graphile_worker._private_jobs where locked_by is null')).toBe(1);
  });

  test('told to stop, it ends in time though a receiver hangs, and leaves nothing that is held', async () => {
    receiver.answer = hang;
    const worker = startWorker();
    await receive();
    await until(async () => receiver.received.length === 1);
    const toldMs = performance.now();
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - toldMs).toBeLessThan(9_500);
    expect(await count('graphile_worker._private_jobs where locked_by is not null')).toBe(0);
    // it was cut off by us, and is no failure of the receiver's
    expect(await count('webhook_attempts')).toBe(0);
  });
});
