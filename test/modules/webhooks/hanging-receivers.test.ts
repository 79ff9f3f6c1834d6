import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertCouriers } from '../../support/builders/register.js';
import { withService } from '../../support/fixture/with-service.js';
import { accept, hang, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

const SLOTS = 5;
/** Those that one tenant uses at the same time. */
const OF_TENANT = 4;
const HANGING = 8;
/** A request that is not answered ends after ten seconds. */
const SOON_MS = 6_000;

// Before the service stops, so that its worker does not wait for their responses.
afterAll(() => Promise.all([hanging, healthy].map((receiver) => receiver.stop())));

const { api, db, service } = withService({ worker: true, env: { WORKER_CONCURRENCY: String(SLOTS) } });
let hanging: Receiver;
let healthy: Receiver;

beforeAll(async () => {
  hanging = await startReceiver(hang);
  healthy = await startReceiver(accept);
});

const sendTest = (as: string, courier_id: string) =>
  api.as(as).manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package', courier_id }).answer();

test('receivers of one tenant that hang leave slots to the webhooks of other tenants, and are called in turns', async () => {
  const { owner, app } = service();
  const to = { owner, secrets: app.secrets };
  await insertCouriers(owner);
  const couriers = await db.query<{ id: string }>(
    'select id from couriers where tenant_id = $1 and is_active and id <> all($2) limit $3',
    [DEMO.tenants.demo, Object.values(DEMO.couriers), HANGING],
  );
  expect(couriers).toHaveLength(HANGING);
  for (const { id } of couriers) {
    await setEndpoints(to, { courierId: id, add: `${hanging.url}/${id}` });
    expect((await sendTest('admin', id)).status).toBeLessThan(300);
  }
  await until(() => Promise.resolve(hanging.received.length >= OF_TENANT));

  const { TWO } = DEMO.couriers;
  await setEndpoints(to, { courierId: TWO, tenantId: DEMO.tenants.two, add: `${healthy.url}/two` });
  const startedMs = performance.now();
  expect((await sendTest('two/admin', TWO)).status).toBeLessThan(300);
  await until(() => Promise.resolve(healthy.received.length === 1));
  expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  expect(hanging.received).toHaveLength(OF_TENANT);
  // Those that returned to the queue get their turn.
  await until(() => Promise.resolve(new Set(hanging.received.map(({ path }) => path)).size === HANGING));
}, 90_000);
