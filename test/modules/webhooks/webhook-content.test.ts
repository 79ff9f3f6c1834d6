import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { shipPackages } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import {
  accept,
  hang,
  startReceiver,
  verified,
  type Received,
  type Receiver,
} from '../../support/receivers/receiver.js';
import { assertPayload } from '../../support/receivers/webhook-payloads.js';
import { setEndpoints, webhookSecret } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';

const { IEX, HRB } = DEMO.couriers;
const ADD = '/add?from=crossdock';

const { api, db, service } = withService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '1,1,1' } });

let receiver: Receiver;
let harbour: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
  harbour = await startReceiver();
  const { owner, app } = service();
  const at = ({ url }: Receiver) => ({ add: `${url}${ADD}`, update: `${url}/update` });
  await setEndpoints({ owner, secrets: app.secrets }, { courierId: IEX, ...at(receiver) });
  await setEndpoints(
    { owner, secrets: app.secrets },
    { courierId: HRB, ...at(harbour), token: 'harbour-token', secret: webhookSecret('h') },
  );
});

afterEach(async () => {
  // Pending deliveries of one test must not reach the receivers of the next.
  await db.query('delete from webhook_deliveries');
  await db.query('delete from package_syncs');
  await receiver.stop();
  await harbour.stop();
});

let scans = 0;
async function receive(user_code = 'IEX-1001'): Promise<string> {
  const { data } = await api
    .as('warehouse')
    .receivePackage({
      tracking_number: `HOOK-${(scans += 1)}`,
      weight: 2.25,
      user_code,
      shipper: 'Ámazon “Öst”',
    })
    .created();
  return data.package_id;
}

type Payload = { type: string; event_id: string; sequence: number; data: Record<string, unknown> };
const payloadOf = ({ body }: Received) => JSON.parse(body) as Payload;

const eventIdsOf = async (packageId: string) =>
  (await db.all('events', { package_id: packageId })).map(({ id }) => id);

const deliveriesOf = async (packageId: string) =>
  db.all('webhook_deliveries', { event_id: await eventIdsOf(packageId) });

test("a received package is signed per Standard Webhooks, with the bearer token and the contract's payload", async () => {
  const packageId = await receive();
  await until(async () => receiver.at(ADD).length === 1);
  const [request] = receiver.at(ADD);
  if (!request) throw new Error('No webhook arrived.');
  expect(request.headers).toMatchObject({
    authorization: 'Bearer token-of-a-courier',
    'content-type': 'application/json; charset=utf-8',
  });
  expect(verified(webhookSecret('s'), request)).toEqual(payloadOf(request));
  expect(() => verified(webhookSecret('h'), request)).toThrow('No matching signature found');
  expect(() => verified(webhookSecret('s'), { ...request, body: `${request.body} ` })).toThrow(
    'No matching signature found',
  );
  const payload = payloadOf(request);
  assertPayload('package.created', payload);
  expect(payload).toMatchObject({ event_id: request.headers['webhook-id'], type: 'package.created' });
  expect(payload.data).toMatchObject({ package_id: packageId, weight: 2.25, shipper: 'Ámazon “Öst”' });
  const sentAtS = Number(request.headers['webhook-timestamp']);
  expect(Math.abs(Date.now() / 1_000 - sentAtS)).toBeLessThan(60);
});

test('a shipped manifest sends each courier the new status of its own packages, numbered in order', async () => {
  const mine = [await receive(), await receive(), await receive()];
  const theirs = await receive('HRB-2001');
  await until(async () => receiver.received.length === 3 && harbour.received.length === 1);
  await shipPackages(api, [...mine, theirs]);
  await until(async () => receiver.at('/update').length === 3 && harbour.at('/update').length === 1);
  const payloads = receiver.at('/update').map(payloadOf);
  for (const payload of payloads) assertPayload('package.status_changed', payload);
  expect(payloads.map(({ data }) => data['package_id']).sort()).toEqual([...mine].sort());
  for (const { data } of payloads)
    expect(data).toMatchObject({ previous_status: 'received', status: 'shipped' });
  const numbers = receiver.received.map((request) => payloadOf(request).sequence);
  numbers.sort((a, b) => a - b);
  expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  const [harboured] = harbour.at('/update');
  if (!harboured) throw new Error('No webhook arrived.');
  expect(verified(webhookSecret('h'), harboured)).toMatchObject({ data: { package_id: theirs } });
  expect(harboured.headers['authorization']).toBe('Bearer harbour-token');
});

test('a corrected package is sent once with its latest state, after any number of corrections', async () => {
  receiver.answer = hang;
  const [package_id, blocked] = [await receive(), await receive()];
  await until(async () => receiver.received.length === 2);
  receiver.answer = accept;
  for (let n = 1; n <= 5; n += 1)
    await api
      .as('warehouse')
      .updatePackage({ package_id, description: `Correction ${n}` })
      .ok();
  const last = () => receiver.at('/update').map(payloadOf).at(-1);
  await until(async () => last()?.data['description'] === 'Correction 5');
  for (const request of receiver.at('/update')) assertPayload('package.updated', payloadOf(request));
  await until(async () => (await db.one('package_syncs', { package_id })).status === 'sent');
  expect(blocked).not.toBe(package_id);
});

test('the number of a package with an unknown customer is masked except for four characters', async () => {
  const body = { tracking_number: 'SECRET-NUMBER-7788', weight: 1, courier_id: IEX };
  await api.as('warehouse').receivePackage(body).created();
  await until(async () => receiver.received.length === 1);
  const [request] = receiver.received;
  if (!request) throw new Error('No webhook arrived.');
  expect(request.body).not.toContain('SECRET');
  expect(payloadOf(request).data['tracking_number']).toBe('**************7788');
});

describe('a courier that has rotated its signing secret', () => {
  /** Sets an old secret that was replaced some hours ago. */
  const rotate = (hoursAgo: number) => {
    const place = {
      tenantId: DEMO.tenants.demo,
      rowId: IEX,
      field: 'webhook_previous_secret',
    } as const;
    return db.query(
      `update couriers set webhook_previous_secret_cipher = $1,
         webhook_secret_rotated_at = now() - make_interval(hours => $2) where id = $3`,
      [service().app.secrets.encrypt(webhookSecret('o'), place), hoursAgo, IEX],
    );
  };

  afterEach(() =>
    db.query('update couriers set webhook_previous_secret_cipher = null, webhook_secret_rotated_at = null'),
  );

  /** Receives a package and returns its webhook. */
  async function sentWebhook(): Promise<Received> {
    await receive();
    await until(async () => receiver.received.length === 1);
    const [request] = receiver.received;
    if (!request) throw new Error('No webhook arrived.');
    return request;
  }

  function expectOnlyNewSignature(request: Received): void {
    expect(request.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    expect(verified(webhookSecret('s'), request)).toEqual(payloadOf(request));
    expect(() => verified(webhookSecret('o'), request)).toThrow('No matching signature found');
  }

  test('signs with both secrets for a day after a rotation', async () => {
    await rotate(23);
    const request = await sentWebhook();
    expect(request.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    for (const letter of ['s', 'o'])
      expect(verified(webhookSecret(letter), request)).toEqual(payloadOf(request));
  });

  test('signs with the new secret only a day after a rotation', async () => {
    await rotate(25);
    expectOnlyNewSignature(await sentWebhook());
  });

  test('signs with the new secret only once the old one is ended', async () => {
    await rotate(1);
    await api.as('iex').endPreviousWebhookSecret().ok();
    expectOnlyNewSignature(await sentWebhook());
  });
});

test('sends nothing without a URL, and records the event', async () => {
  await db.query('update couriers set api_url_add_package = null where id = $1', [IEX]);
  const packageId = await receive();
  expect(await deliveriesOf(packageId)).toEqual([]);
  expect(await db.eventsOf(packageId)).toMatchObject([{ type: 'package.created' }]);
});

test('records no event for a package without a courier', async () => {
  const body = { tracking_number: `NOBODY-${Date.now()}`, weight: 1 };
  const { data } = await api.as('warehouse').receivePackage(body).created();
  expect(await eventIdsOf(data.package_id)).toEqual([]);
});

test('a receiver that sends 100 Continue without being asked gets each webhook once', async () => {
  receiver.answer = (request, response) => {
    response.writeContinue();
    accept(request, response);
  };
  const packages = [await receive(), await receive(), await receive()];
  const deliveries = async () => (await Promise.all(packages.map(deliveriesOf))).flat();
  await until(async () => (await deliveries()).filter(({ settled_at }) => settled_at).length === 3);
  expect(await deliveries()).toEqual(
    packages.map(() => expect.objectContaining({ status: 'delivered', attempt_count: 1 })),
  );
  expect(receiver.at(ADD)).toHaveLength(packages.length);
});
