import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { makeCustomerSync } from '../../../../src/modules/customers/sync/sync.js';
import { makeOutboundClient } from '../../../../src/platform/outbound/client.js';
import { answerWith, setSyncUrl } from '../../../support/builders/customer-sync.js';
import { withService } from '../../../support/fixture/with-service.js';
import { startReceiver, type Receiver } from '../../../support/receivers/receiver.js';
import { until } from '../../../support/service/processes.js';

// Synchronisations of one server take turns, because each holds a response of up to 20 MiB.

const SLOW = 8;
const LIMIT_MS = 60_000;

let receiver: Receiver;
const outbound = makeOutboundClient({ allowLoopback: true, dnsServers: [] });
// Before the service stops.
afterAll(async () => {
  await outbound.close();
  await receiver.stop();
});

const { api, db, service } = withService();
const waiting: ServerResponse[] = [];

beforeAll(async () => {
  receiver = await startReceiver((request, response) => {
    if (request.path === '/slow') waiting.push(response);
    else answerWith([])(request, response);
  });
});

/** Requests a run of a courier and returns its id. */
async function request(as: string, courier_id: string, path: string): Promise<string> {
  await setSyncUrl(service(), `${receiver.url}${path}`, courier_id);
  return (await api.as(as).syncCustomers({ courier_id }).ok()).data.run_id;
}

async function newCourier(code: string): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    'insert into couriers (tenant_id, id, code, name) values ($1, gen_random_uuid(), $2, $2) returning id',
    [DEMO.tenants.demo, code],
  );
  return row?.id ?? '';
}

test(
  'slow systems of the couriers of one tenant leave a place to other tenants',
  async () => {
    const { app, db: database } = service();
    const config = { customerChangesPerDay: 300_000 };
    const log = { info: () => undefined };
    const deps = { db: database, secrets: app.secrets, log, config, outbound, threadIdleMs: 5_000 };
    const job = makeCustomerSync({ config, threadIdleMs: 5_000 });
    const slow: Promise<void>[] = [];
    for (let n = 0; n < SLOW; n += 1) {
      const runId = await request('admin', await newCourier(`SLOW-${n}`), '/slow');
      slow.push(job(deps, { tenantId: DEMO.tenants.demo, runId }));
    }
    await until(async () => waiting.length >= 3);
    const runId = await request('two/admin', DEMO.couriers.TWO, '/fast');
    await job(deps, { tenantId: DEMO.tenants.two, runId });
    const [run] = await db.query('select status from customer_sync_runs where id = $1', [runId]);
    expect(run).toEqual({ status: 'succeeded' });
    // Those that found no place are in the queue again.
    expect(waiting.length).toBeLessThanOrEqual(4);
    const isOver = { value: false };
    const all = Promise.all(slow).finally(() => (isOver.value = true));
    await until(async () => {
      for (const response of waiting.splice(0))
        response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
      return isOver.value;
    });
    await all;
  },
  LIMIT_MS,
);
