import { afterAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { DEMO } from '../../fixtures/demo/seed.js';
import { demoDatabase } from '../support/service/database.js';
import { growth, scrape } from '../support/readers/exposition.js';
import { endProcesses, freePort, removeFolders, run, statusOf, until } from '../support/service/processes.js';
import { accept, refuse, startReceiver } from '../support/receivers/receiver.js';
import { startService } from '../support/service/service.js';
import { setEndpoints } from '../support/receivers/webhooks.js';

const LIMIT_MS = 60_000;
/** A scrape before the first event. */
const NOTHING = { values: new Map<string, number>() };

const countPools = async (owner: pg.Pool): Promise<number> =>
  (await owner.query('select from queue.worker_pools')).rows.length;

afterAll(async () => {
  await endProcesses();
  await removeFolders();
}, LIMIT_MS);

test.concurrent(
  "a worker in the service's process counts each webhook attempt once, by outcome",
  async () => {
    const service = await startService({
      worker: true,
      env: { METRICS_PORT: '0', WEBHOOK_RETRY_SECONDS: '1,1' },
    });
    const [accepting, rejecting] = [await startReceiver(accept), await startReceiver(refuse(500))];
    try {
      const { owner } = service;
      const { secrets } = service.app;
      const { IEX, HRB } = DEMO.couriers;
      await setEndpoints({ owner, secrets }, { courierId: IEX, add: `${accepting.url}/add` });
      await setEndpoints({ owner, secrets }, { courierId: HRB, add: `${rejecting.url}/add` });
      const port = service.metrics?.port ?? 0;
      for (const n of [1, 2, 3]) {
        for (const courier_id of [IEX, HRB]) {
          const body = { tracking_number: `METRIC-${courier_id}-${n}`, weight: 1, courier_id };
          expect(await service.call('receivePackage', { as: 'warehouse', body })).toMatchObject({
            status: 201,
          });
        }
      }
      // The first scrape reads the backlog, and the next ones repeat it for five seconds.
      await until(async () => {
        const { rows } = await owner.query(`select from webhook_deliveries where status = 'pending'`);
        return rows.length === 0 && (await countPools(owner)) === 1;
      });
      const after = await scrape(port);
      expect([accepting.received.length, rejecting.received.length]).toEqual([3, 9]);
      expect(growth(NOTHING, after, 'crossdock_webhook_attempts_total')).toEqual({
        '{outcome="delivered"}': 3,
        '{outcome="rejected"}': 9,
      });
      expect(growth(NOTHING, after, 'crossdock_webhook_attempt_duration_seconds_count')).toEqual({ '': 12 });
      // Three webhooks have failed all of their three attempts.
      expect(after.values.get('crossdock_webhooks_given_up_total')).toBe(3);
      expect(after.text).not.toContain(accepting.url);
      // A URL that has failed for 48 hours is paused at the next failure, and what waits for a retry is given up.
      await owner.query(
        "update webhook_endpoints set failing_since = now() - interval '49 hours' where failing_since is not null",
      );
      const paused = { tracking_number: 'METRIC-PAUSED', weight: 1, courier_id: HRB };
      expect(await service.call('receivePackage', { as: 'warehouse', body: paused })).toMatchObject({
        status: 201,
      });
      await until(async () => (await scrape(port)).values.get('crossdock_webhooks_given_up_total') === 4);
      expect(rejecting.received).toHaveLength(10);
      for (const pool of ['service', 'worker', 'queue'])
        expect(after.values.get(`crossdock_pool_connections_max{pool="${pool}"}`)).toBeGreaterThan(0);
      expect(after.values.get('crossdock_worker_pools')).toBe(1);
      expect(after.values.get('crossdock_queue_jobs{kind="deliver",state="failed"}')).toBe(0);
    } finally {
      await service.stop();
      await accepting.stop();
      await rejecting.stop();
    }
  },
  LIMIT_MS,
);

test.concurrent(
  'a separate worker can be probed and scraped, and exits in time',
  async () => {
    const database = await demoDatabase();
    const owner = new pg.Pool({ connectionString: database.ownerUrl, max: 1 });
    owner.on('error', () => undefined);
    try {
      const port = await freePort();
      const env = { LOG_LEVEL: 'error', DATABASE_URL: database.ownerUrl, METRICS_PORT: String(port) };
      const worker = run('src/worker.js', env);
      await until(async () => (await statusOf(`http://127.0.0.1:${port}/health`)) === 200);
      await until(async () => (await countPools(owner)) === 1);
      const { values } = await scrape(port);
      expect(values.get('crossdock_worker_pools')).toBe(1);
      expect(values.get('crossdock_pool_connections_max{pool="queue"}')).toBe(4);
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toEqual({ code: 0, signal: null });
      expect(await statusOf(`http://127.0.0.1:${port}/health`)).toBeUndefined();
    } finally {
      await endProcesses();
      await owner.end();
      await database.drop();
    }
  },
  LIMIT_MS,
);
