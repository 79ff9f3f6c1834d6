import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { accept, refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { setEndpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

const { IEX } = DEMO.couriers;
const DELIVERIES = 20;

const { api, db, service } = withService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '1,1,1,1,1,1,1' } });
let receiver: Receiver;
let inFlight = 0;
let most = 0;
let isRefusing = true;

beforeAll(async () => {
  receiver = await startReceiver((request, response) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    setTimeout(() => {
      inFlight -= 1;
      (isRefusing ? refuse(500) : accept)(request, response);
    }, 100);
  });
  const { owner, app } = service();
  await setEndpoints({ owner, secrets: app.secrets }, { courierId: IEX, add: receiver.url });
}, 60_000);
afterAll(() => receiver.stop());

const countPending = () => db.count('webhook_deliveries', { status: 'pending' });
const fail = (minutes: number) =>
  db.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since)
     values ($1, $2, 'add_package', 1, now() - make_interval(mins => $3))
     on conflict (tenant_id, courier_id, endpoint) do update set failing_since = excluded.failing_since`,
    [DEMO.tenants.demo, IEX, minutes],
  );

async function receiveMany(): Promise<void> {
  await db.query('delete from webhook_deliveries');
  await until(async () => inFlight === 0);
  most = 0;
  for (let n = 0; n < DELIVERIES; n += 1)
    await api
      .as('warehouse')
      .receivePackage({ tracking_number: newNumber(), weight: 1, courier_id: IEX })
      .created();
}

test('a URL that has just begun to fail is called as any other', async () => {
  await fail(1);
  await receiveMany();
  await until(async () => receiver.received.length >= DELIVERIES);
  expect(most).toBeGreaterThan(1);
}, 60_000);

test('one that has accepted nothing for minutes gets one request at a time, until it accepts one', async () => {
  await fail(6);
  await receiveMany();
  const before = receiver.received.length;
  await until(async () => receiver.received.length >= before + DELIVERIES);
  expect(most).toBe(1);
  isRefusing = false;
  most = 0;
  await until(async () => (await countPending()) === 0);
  expect(most).toBeGreaterThan(1);
}, 60_000);
