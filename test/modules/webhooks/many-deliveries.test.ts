import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { eventPackage } from '../../support/builders/deliveries.js';
import { startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';
import { withService } from '../../support/fixture/with-service.js';

// Many deliveries of one courier are due at once, as after a manifest of a thousand packages was shipped.

const { IEX } = DEMO.couriers;
const MAX_CONCURRENT = 16;
const { db, service } = withService({ worker: true });
const receivers: Receiver[] = [];

afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.stop()));
  await db.query('delete from webhook_deliveries');
});

/** A receiver that accepts each request after some milliseconds, and counts how many it has at once. */
async function slowReceiver(delayMs: number): Promise<{ receiver: Receiver; most: () => number }> {
  let open = 0;
  let most = 0;
  const receiver = await startReceiver((_request, response) => {
    open += 1;
    most = Math.max(most, open);
    void sleep(delayMs).then(() => {
      open -= 1;
      response.writeHead(204).end();
    });
  });
  receivers.push(receiver);
  return { receiver, most: () => most };
}

const useUrl = (receiver: Receiver) =>
  setEndpoints(
    { owner: service().owner, secrets: service().app.secrets },
    { courierId: IEX, add: `${receiver.url}/add` },
  );

/** Inserts deliveries that are due now, in one transaction, and queues their job. */
const makeDue = (count: number) =>
  db.query(
    `with made as (
       insert into events (tenant_id, id, courier_id, sequence, type, package_id, data)
       select $1, new_id(), $2, n + coalesce((select max(sequence) from events where courier_id = $2), 0),
         'package.created', gen_random_uuid(), $3 from generate_series(1, $4::int) n returning id
     ), promised as (
       insert into webhook_deliveries (tenant_id, id, event_id, courier_id, endpoint)
       select $1, new_id(), id, $2, 'add_package' from made
     )
     select graphile_worker.add_job('deliver', json_build_object('tenantId', $1::text, 'courierId', $2::text,
       'endpoint', 'add_package'), concat($2::text, ':add_package'), job_key => concat('deliver:', $2::text, ':add_package'))`,
    [DEMO.tenants.demo, IEX, JSON.stringify(eventPackage('01930a3e-7c1d-7e11-9c5a-2f4b8d6e0e01')), count],
  );

const settledRows = () =>
  db.query<{ status: string; attempts: number; n: number }>(
    `select status, attempt_count::int as attempts, count(*)::int as n from webhook_deliveries
     where settled_at is not null group by 1, 2`,
  );

const idsOf = (...from: Receiver[]) =>
  from.flatMap(({ received }) => received.map(({ headers }) => headers['webhook-id'] ?? ''));

test('500 due deliveries are each sent once, in one attempt, and at most 16 at the same time', async () => {
  const { receiver, most } = await slowReceiver(5);
  await useUrl(receiver);
  await makeDue(500);
  await until(async () => (await settledRows()).some(({ n }) => n === 500));
  expect(await settledRows()).toEqual([{ status: 'delivered', attempts: 1, n: 500 }]);
  expect(new Set(idsOf(receiver)).size).toBe(500);
  expect(receiver.received).toHaveLength(500);
  expect(most()).toBe(MAX_CONCURRENT);
});

test('deliveries that wait for a free request go to the new URL within 2 s of its change, and each is sent once', async () => {
  const { receiver: old } = await slowReceiver(300);
  const { receiver: current } = await slowReceiver(0);
  await useUrl(old);
  await makeDue(300);
  // By then the receiver has answered quickly enough that more are claimed than are in flight.
  await until(async () => old.received.length >= 3 * MAX_CONCURRENT);
  await useUrl(current);
  const changedMs = performance.now();
  await until(async () => (await settledRows()).some(({ n }) => n === 300));
  expect(old.received.filter(({ atMs }) => atMs > changedMs + 2_000)).toEqual([]);
  expect(current.received.length).toBeGreaterThan(0);
  expect(new Set(idsOf(old, current)).size).toBe(300);
  expect(old.received.length + current.received.length).toBe(300);
  expect(await settledRows()).toEqual([{ status: 'delivered', attempts: 1, n: 300 }]);
});

test('a URL that never responds does not hold claims of deliveries that wait for it', async () => {
  const receiver = await startReceiver(() => undefined);
  receivers.push(receiver);
  await useUrl(receiver);
  await makeDue(100);
  await until(async () => receiver.received.length === MAX_CONCURRENT);
  const claimed = async () =>
    (await db.all('webhook_deliveries')).filter(({ claimed_until }) => claimed_until !== null);
  // Long before the claims end by themselves, after 30 s.
  await until(async () => (await claimed()).length === MAX_CONCURRENT, 5_000);
  expect(await claimed()).toHaveLength(MAX_CONCURRENT);
});
