import { afterAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import {
  accept,
  hang,
  refuse,
  respondForever,
  startReceiver,
  verified,
  type Received,
  type Receiver,
} from '../../support/receivers/receiver.js';
import { assertPayload } from '../../support/receivers/webhook-payloads.js';
import { setEndpoints, webhookSecret } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

// Failed deliveries mostly wait, so their tests run at the same time, each with its own couriers. The others must not: a model
// that is used first when one of several concurrent tests has ended fails, because jest then forbids to load its compiler.

// Three retries, one second apart, so that a test can wait for the last.
const RETRIES = 3;

const receivers: Receiver[] = [];
// Before the service stops, so that its worker does not wait for their responses.
afterAll(() => Promise.all(receivers.map((receiver) => receiver.stop())));

const { api, db, service } = withService({
  worker: true,
  env: { WEBHOOK_RETRY_SECONDS: Array(RETRIES).fill('1').join(',') },
});

/** A courier with its own receiver that no other test uses. */
type OwnCourier = { id: string; receiver: Receiver; receive(): Promise<string> };

let couriers = 0;
async function ownCourier(answer: Receiver['answer'] = accept): Promise<OwnCourier> {
  const code = `OWN-${(couriers += 1)}`;
  const [courier] = await db.query<{ id: string }>(
    'insert into couriers (tenant_id, id, code, name) values ($1, gen_random_uuid(), $2, $2) returning id',
    [DEMO.tenants.demo, code],
  );
  const id = courier?.id ?? '';
  const receiver = await startReceiver(answer);
  receivers.push(receiver);
  const { owner, app } = service();
  const urls = { add: `${receiver.url}/add`, update: `${receiver.url}/update` };
  await setEndpoints({ owner, secrets: app.secrets }, { courierId: id, ...urls });
  let parcels = 0;
  return {
    id,
    receiver,
    async receive() {
      const tracking_number = `${code}-${(parcels += 1)}`;
      const { data } = await api
        .as('warehouse')
        .receivePackage({ tracking_number, weight: 1, courier_id: id })
        .created();
      return data.package_id;
    },
  };
}

/** The delivery of the package's only event, if there is one. */
async function deliveryOf(packageId: string) {
  const events = await db.all('events', { package_id: packageId });
  const [delivery] = await db.all('webhook_deliveries', { event_id: events.map(({ id }) => id) });
  return delivery;
}

const settled = (packageId: string) =>
  until(async () => ((await deliveryOf(packageId))?.status ?? 'pending') !== 'pending');

const attemptsOf = async (packageId: string) =>
  db.all('webhook_attempts', { delivery_id: (await deliveryOf(packageId))?.id ?? '' });

const payloadOf = ({ body }: Received): unknown => JSON.parse(body);

describe('failed deliveries', () => {
  test.concurrent('are retried on schedule with the same id and a new time, and each attempt is logged', async () => {
    const { receiver, receive } = await ownCourier((request, response) =>
      (receiver.received.length < 3 ? refuse(503, 'come\0 back “later”') : accept)(request, response),
    );
    const packageId = await receive();
    await settled(packageId);
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    for (const request of receiver.received)
      expect(verified(webhookSecret('s'), request)).toEqual(payloadOf(request));
    const gaps = receiver.received.slice(1).map(({ atMs }, n) => atMs - (receiver.received[n]?.atMs ?? 0));
    for (const gap of gaps) expect(gap).toBeGreaterThan(950);
    const rejected = {
      outcome: 'rejected',
      http_status: 503,
      response_start: 'come back “later”',
      error: null,
    };
    expect(await attemptsOf(packageId)).toMatchObject([
      { number: 1, ...rejected },
      { number: 2, ...rejected },
      { number: 3, outcome: 'delivered', http_status: 204, response_start: '', error: null },
    ]);
    expect(await deliveryOf(packageId)).toMatchObject({ status: 'delivered', attempt_count: 3 });
  });

  test.concurrent('fail after the last retry, and so does their synchronisation', async () => {
    const { receiver, receive } = await ownCourier(refuse(500));
    const package_id = await receive();
    await settled(package_id);
    expect(await deliveryOf(package_id)).toMatchObject({ status: 'failed', attempt_count: 1 + RETRIES });
    expect(receiver.received).toHaveLength(1 + RETRIES);
    await api
      .as('admin')
      .listPackages({ package_ids: [package_id], action: 'queue_dispatch' })
      .ok();
    await until(async () => (await db.one('package_syncs', { package_id })).status === 'failed');
  });

  test.concurrent('time out after ten seconds and delay no other courier', async () => {
    const [slow, other] = [await ownCourier(hang), await ownCourier()];
    const [first = ''] = await Promise.all(Array.from({ length: 40 }, () => slow.receive()));
    const beganMs = performance.now();
    await settled(await other.receive());
    expect(performance.now() - beganMs).toBeLessThan(5_000);
    await until(async () => ((await deliveryOf(first))?.attempt_count ?? 0) > 0);
    const [attempt] = await attemptsOf(first);
    expect(attempt).toMatchObject({ number: 1, outcome: 'timeout' });
    expect(attempt?.duration_ms).toBeGreaterThanOrEqual(9_900);
    expect(attempt?.duration_ms).toBeLessThan(13_000);
  }, 60_000);

  test.concurrent('do not follow redirects', async () => {
    const [{ id, receiver, receive }, inside] = [await ownCourier(), await ownCourier()];
    for (const status of [301, 302, 303, 307, 308]) {
      receiver.answer = (_request, response) =>
        response.writeHead(status, { location: `${inside.receiver.url}/secret` }).end();
      const packageId = await receive();
      await until(async () => ((await deliveryOf(packageId))?.attempt_count ?? 0) > 0);
    }
    expect(inside.receiver.received).toEqual([]);
    const attempts = await db.all('webhook_attempts', { courier_id: id });
    expect(attempts.length).toBeGreaterThanOrEqual(5);
    expect(attempts.filter(({ outcome }) => outcome === 'delivered')).toEqual([]);
  });

  test.concurrent('an endless response is cut off and counts by its status', async () => {
    const { receive } = await ownCourier(respondForever);
    const packageId = await receive();
    await settled(packageId);
    expect((await deliveryOf(packageId))?.status).toBe('delivered');
    const [attempt] = await attemptsOf(packageId);
    expect(attempt?.response_start).toBe('x'.repeat(1_024));
    expect(attempt?.duration_ms).toBeLessThan(10_500);
  });

  test.concurrent('fail if the URL is removed meanwhile', async () => {
    const { id, receiver, receive } = await ownCourier(refuse(500));
    const packageId = await receive();
    await until(async () => receiver.received.length === 1);
    await db.query('update couriers set api_url_add_package = null where id = $1', [id]);
    await settled(packageId);
    expect(await deliveryOf(packageId)).toMatchObject({ status: 'failed' });
    expect(receiver.received).toHaveLength(1);
  });
});

describe('URL that fails for long', () => {
  const addUrlOf = async (courierId: string) => {
    const [state] = await db.all('webhook_endpoints', { courier_id: courierId, endpoint: 'add_package' });
    return state;
  };

  const failingFor = (courierId: string, hours: number) =>
    db.query(
      'update webhook_endpoints set failing_since = now() - make_interval(hours => $1) where courier_id = $2',
      [hours, courierId],
    );

  test('is paused by a failure after 48 hours and gets only tests until one succeeds', async () => {
    const [{ id, receiver, receive }, other] = [await ownCourier(refuse(500)), await ownCourier()];
    await receive();
    await until(async () => ((await addUrlOf(id))?.failures ?? 0) >= 1);
    await failingFor(id, 47);
    await until(async () => ((await addUrlOf(id))?.failures ?? 0) >= 2);
    expect((await addUrlOf(id))?.paused_at).toBeNull();
    await failingFor(id, 49);
    await until(async () => (await addUrlOf(id))?.paused_at instanceof Date);
    const reason = { last_failure_outcome: 'rejected', last_failure_status: 500, last_failure_error: null };
    expect(await addUrlOf(id)).toMatchObject(reason);

    receiver.answer = accept;
    const seen = receiver.received.length;
    expect(await deliveryOf(await receive())).toBeUndefined();
    // The other courier and the other URL are not affected.
    await settled(await other.receive());
    await api
      .as('admin')
      .manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package', courier_id: id })
      .ok();
    await until(async () => receiver.received.length === seen + 1);
    for (const request of receiver.received.slice(seen)) assertPayload('webhook.test', payloadOf(request));
    await until(async () => (await addUrlOf(id))?.paused_at === null);
    expect(await addUrlOf(id)).toMatchObject({ failures: 0, failing_since: null });
    await settled(await receive());
  });

  test('a success resets the failure count', async () => {
    const { id, receiver, receive } = await ownCourier((request, response) =>
      (receiver.received.length === 1 ? refuse(500) : accept)(request, response),
    );
    await settled(await receive());
    expect(await addUrlOf(id)).toMatchObject({ failures: 0, failing_since: null, paused_at: null });
  });
});
