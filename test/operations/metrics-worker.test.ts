import { afterAll, afterEach, expect, test } from '@jest/globals';
import { DEMO } from '../../src/development/demo/seed.js';
import { demoDatabase } from '../support/service/database.js';
import { growth, scrape } from '../support/readers/exposition.js';
import { endProcesses, freePort, removeFolders, run, statusOf, until } from '../support/service/processes.js';
import { accept, refuse, startReceiver } from '../support/receivers/receiver.js';
import { startService } from '../support/service/service.js';
import { setEndpoints } from '../support/receivers/webhooks.js';

const LIMIT_MS = 60_000;

afterEach(endProcesses, LIMIT_MS);
afterAll(removeFolders);

test(
  'a worker beside the service: each attempt to send a webhook is counted by its outcome, none twice',
  async () => {
    const service = await startService({
      worker: true,
      env: { METRICS_PORT: '0', WEBHOOK_RETRY_SECONDS: '1,1' },
    });
    const [willing, unwilling] = [await startReceiver(accept), await startReceiver(refuse(500))];
    try {
      const { owner } = service;
      const { secrets } = service.app;
      const { IEX, HRB } = DEMO.couriers;
      await setEndpoints({ owner, secrets }, { courierId: IEX, add: `${willing.url}/add` });
      await setEndpoints({ owner, secrets }, { courierId: HRB, add: `${unwilling.url}/add` });
      const port = service.metrics?.port ?? 0;
      const before = await scrape(port);
      for (const n of [1, 2, 3]) {
        for (const courier_id of [IEX, HRB]) {
          const body = { tracking_number: `METRIC-${courier_id}-${n}`, weight: 1, courier_id };
          expect(await service.call('receivePackage', { as: 'warehouse', body })).toMatchObject({
            status: 201,
          });
        }
      }
      await until(async () => {
        const { rows } = await owner.query(`select from webhook_deliveries where status = 'pending'`);
        return rows.length === 0;
      });
      const after = await scrape(port);
      expect([willing.received.length, unwilling.received.length]).toEqual([3, 9]);
      expect(growth(before, after, 'crossdock_webhook_attempts_total')).toEqual({
        '{outcome="delivered"}': 3,
        '{outcome="rejected"}': 9,
      });
      expect(growth(before, after, 'crossdock_webhook_attempt_duration_seconds_count')).toEqual({ '': 12 });
      expect(after.text).not.toContain(willing.url);
      for (const pool of ['service', 'worker', 'queue'])
        expect(after.values.get(`crossdock_pool_connections_max{pool="${pool}"}`)).toBeGreaterThan(0);
      await until(async () => {
        const { values } = await scrape(port);
        return (
          values.get('crossdock_worker_pools') === 1 &&
          values.get('crossdock_queue_jobs{kind="deliver",state="failed"}') === 0
        );
      });
    } finally {
      await service.stop();
      await willing.stop();
      await unwilling.stop();
    }
  },
  LIMIT_MS,
);

test(
  'a worker alone can be probed and scraped, and ends in time',
  async () => {
    const database = await demoDatabase();
    try {
      const port = await freePort();
      const env = { LOG_LEVEL: 'error', DATABASE_URL: database.ownerUrl, METRICS_PORT: String(port) };
      const worker = run('src/worker.js', env);
      await until(async () => (await statusOf(`http://127.0.0.1:${port}/health`)) === 200);
      await until(async () => (await scrape(port)).values.get('crossdock_worker_pools') === 1);
      expect((await scrape(port)).values.get('crossdock_pool_connections_max{pool="queue"}')).toBe(4);
      worker.child.kill('SIGTERM');
      expect(await worker.ended).toEqual({ code: 0, signal: null });
      expect(await statusOf(`http://127.0.0.1:${port}/health`)).toBeUndefined();
    } finally {
      await endProcesses();
      await database.drop();
    }
  },
  LIMIT_MS,
);
