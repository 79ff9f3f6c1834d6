import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertCouriers } from '../../support/builders/register.js';
import { withService } from '../../support/fixture/with-service.js';
import { accept, hang, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

const SLOTS = 3;
/** Those that slow receivers of one tenant use at the same time. */
const OF_SLOW = 2;
const HANGING = 8;
/** A request that is not answered ends after ten seconds. */
const SOON_MS = 5_000;

// Before the service stops, so that its worker does not wait for their responses.
afterAll(() => Promise.all([hanging, healthy].map((receiver) => receiver.stop())));

const { api, db, service } = withService({
  worker: true,
  env: { WORKER_CONCURRENCY: String(SLOTS), WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1' },
});
let hanging: Receiver;
let healthy: Receiver;

beforeAll(async () => {
  hanging = await startReceiver(hang);
  healthy = await startReceiver(accept);
});

const receive = (as: string, courier_id: string) =>
  api
    .as(as)
    .receivePackage({ tracking_number: `HANG-${courier_id.slice(-12)}`, weight: 1, courier_id })
    .created();

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
    await receive('warehouse', id);
  }
  const called = () => new Set(hanging.received.map(({ path }) => path)).size;
  // Nothing is known of them before each has been called.
  await until(() => Promise.resolve(called() === HANGING));
  await until(async () => (await countAttempts()) >= HANGING + OF_SLOW);

  const { TWO } = DEMO.couriers;
  await setEndpoints(to, { courierId: TWO, tenantId: DEMO.tenants.two, add: `${healthy.url}/two` });
  for (let n = 1; n <= 2; n += 1) {
    const startedMs = performance.now();
    await api
      .as('two/admin')
      .manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package', courier_id: TWO })
      .answer();
    await until(() => Promise.resolve(healthy.received.length === n));
    expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  }
  const before = hanging.received.length;
  await until(() => Promise.resolve(hanging.received.length >= before + OF_SLOW));
}, 150_000);

const countAttempts = () => db.count('webhook_attempts', { outcome: 'timeout' });
