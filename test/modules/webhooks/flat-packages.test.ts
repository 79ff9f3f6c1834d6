import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { bundle } from '../../support/service/contract.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { refuse, startReceiver, verified, type Receiver } from '../../support/receivers/receiver.js';
import {
  FLAT_FIELDS,
  startRegionReceiver,
  type RegionReceiver,
  type RegionRequest,
} from '../../support/receivers/region-receiver.js';
import { assertFlatPackage, assertPayload } from '../../support/receivers/webhook-payloads.js';
import { setEndpoints, webhookSecret, type Endpoints } from '../../support/receivers/webhooks.js';
import { until } from '../../support/service/processes.js';
import { startService, type Reply, type Service } from '../../support/service/service.js';

const { IEX } = DEMO.couriers;
// The characters that JSON and URLs spell in several ways.
const TOKEN = 'tok/en"of\\the+region';

let service: Service;
let region: RegionReceiver;

beforeAll(async () => {
  service = await startService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '600' } });
});

afterAll(() => service.stop());

beforeEach(async () => {
  region = await startRegionReceiver({ token: TOKEN });
  await setFormats();
});

afterEach(async () => {
  // Pending deliveries of one test must not reach the receiver of the next.
  await service.owner.query('delete from webhook_deliveries');
  await service.owner.query('delete from package_syncs');
  await region.close();
});

const setFormats = (given: Endpoints = {}) =>
  setEndpoints(
    { owner: service.owner, secrets: service.app.secrets },
    {
      add: `${region.url}/add`,
      update: `${region.url}/update`,
      token: TOKEN,
      ...{ addFormat: 'flat', updateFormat: 'flat' },
      ...given,
    },
  );

async function call(id: Parameters<Service['call']>[0], as: string, body: unknown): Promise<Reply['body']> {
  const reply = await service.call(id, { as, body });
  expect([id, reply.status < 300, reply.body['message']]).toEqual([id, true, expect.any(String)]);
  return reply.body['data'];
}

let scans = 0;
async function receive(fields: object = { user_code: 'IEX-1001' }): Promise<string> {
  const body = { tracking_number: `FLAT-${(scans += 1)}`, weight: 2.25, ...fields };
  return (await call('receivePackage', 'warehouse', body))['package_id'];
}

/** Returns the request that an action causes. */
async function caused(action: () => Promise<unknown>): Promise<RegionRequest> {
  const before = region.requests.length;
  await action();
  await until(async () => region.requests.length > before || region.faults.length > 0);
  expect(region.faults).toEqual([]);
  const request = region.requests[before];
  if (!request) throw new Error('No request arrived.');
  return request;
}

const record = (packageId: string, status: string) =>
  call('recordPackageEvent', 'warehouse', { package_id: packageId, status });

async function shipOn(packageId: string): Promise<{ id: string; number: string }> {
  const { manifest_id: id, manifest_number: number } = await call('createManifest', 'warehouse', {});
  const manage = (body: object) => call('manageManifest', 'warehouse', { manifest_id: id, ...body });
  await manage({ action: 'add_packages', package_ids: [packageId] });
  for (const status of ['ready', 'shipped']) await manage({ action: 'update_meta', status });
  return { id, number };
}

/** Returns the newest delivery of a package once it has been attempted. */
async function attempted(packageId: string, attempts = 1): Promise<Reply['body']> {
  let found: Reply['body'] = {};
  await until(async () => {
    const query = { package_id: packageId };
    const { body } = await service.call('listWebhookDeliveries', { as: 'iex', query });
    found = body['data'][0] ?? {};
    return found['attempt_count'] >= attempts;
  });
  return found;
}

const sendTest = (endpoint: string) =>
  call('manageWebhookDeliveries', 'iex', { action: 'send_test', endpoint });
const redeliver = (delivery_id: string) =>
  call('manageWebhookDeliveries', 'iex', { action: 'redeliver', delivery_id });

const deliveredIds = async () =>
  (
    await service.owner.query<{ id: string }>(
      `select id from webhook_deliveries where courier_id = $1 and status = 'delivered'`,
      [IEX],
    )
  ).rows;

describe('the flat package', () => {
  test('the contract lists the 38 fields of the region, and both of its examples are valid', () => {
    type Entry = { post: { requestBody: { content: { 'application/json': { example: object } } } } };
    // The bundle has the webhooks next to its paths.
    const { webhooks } = bundle as unknown as { webhooks: Record<string, Entry> };
    for (const name of ['flatPackageCreated', 'flatPackageUpdated'] as const) {
      const example = webhooks[name]?.post.requestBody.content['application/json'].example ?? {};
      expect(() => assertFlatPackage(name, example)).not.toThrow();
      expect(Object.keys(example).sort()).toEqual([...FLAT_FIELDS].sort());
    }
    expect(FLAT_FIELDS).toHaveLength(38);
  });

  test.each(['package', 'test'])('of a URL for arrays is the same object in an array (%s)', async (kind) => {
    const receiver = await startReceiver((_request, response) => response.writeHead(409).end());
    try {
      const at = (format: 'flat' | 'flat_array') =>
        setFormats({ add: `${receiver.url}/${format}`, addFormat: format });
      const send = () => (kind === 'test' ? sendTest('add_package') : receive());
      for (const format of ['flat', 'flat_array'] as const) {
        await at(format);
        await send();
        await until(async () => receiver.at(`/${format}`).length === 1);
      }
      const [object, array] = ['/flat', '/flat_array'].map((path) => receiver.at(path)[0]);
      if (!object || !array) throw new Error('No request arrived.');
      expect(verified(webhookSecret('s'), array)).toEqual(JSON.parse(array.body));
      const content: unknown = JSON.parse(array.body);
      expect(content).toEqual([expect.any(Object)]);
      const [flat] = content as object[];
      expect(() => assertFlatPackage('flatPackageCreated', flat ?? {})).not.toThrow();
      expect(Object.keys(flat ?? {})).toEqual(Object.keys(JSON.parse(object.body) as object));
      expect(array.headers['x-api-key']).toBe(TOKEN);
      // 409 means that the receiver has the package.
      await until(async () => (await deliveredIds()).length === 2);
    } finally {
      await receiver.stop();
    }
  });

  test('a received package has every field with its value, the token in three places, and the signature', async () => {
    const number = `FLAT-WHOLE-${(scans += 1)}`;
    const { owner } = service;
    await owner.query(
      "update customers set branch = 'Down Town' where courier_id = $1 and user_code = 'IEX-1001'",
      [IEX],
    );
    let id = '';
    const { path, headers, text, body } = await caused(async () => {
      const measures = { length: 12, width: 8.5, height: 4 };
      const content = { shipper: 'Ámazon “Öst”', description: 'Running shoes', user_code: 'IEX-1001' };
      id = await receive({ tracking_number: number, ...measures, ...content });
    });
    const { rows } = await owner.query(
      `select house_number, first_name, last_name, to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day,
         to_char(received_at at time zone 'UTC', 'HH24:MI:SS.MS') as time from packages where id = $1`,
      [id],
    );
    const [row] = rows;
    assertFlatPackage('flatPackageCreated', body);
    expect(body).toEqual({
      PackageID: id,
      CourierID: IEX,
      ManifestID: '',
      CollectionID: '',
      TrackingNumber: number,
      ControlNumber: row.house_number,
      FirstName: row.first_name,
      LastName: row.last_name,
      UserCode: 'IEX-1001',
      Weight: 2.25,
      Shipper: 'Ámazon “Öst”',
      EntryStaff: '',
      EntryDate: `${row.day}T00:00:00+00:00`,
      EntryDateTime: `${row.day}T${row.time}0000+00:00`,
      Branch: 'Down Town',
      Claimed: false,
      APIToken: TOKEN,
      ShowControls: false,
      ManifestCode: '',
      CollectionCode: '',
      Description: 'Running shoes',
      HSCode: '',
      Unknown: false,
      AIProcessed: false,
      OriginalHouseNumber: '',
      Cubes: 0,
      Length: 12,
      Width: 8.5,
      Height: 4,
      Pieces: 1,
      Discrepancy: false,
      DiscrepancyDescription: '',
      ServiceTypeID: '',
      HazmatCodeID: '',
      Coloaded: false,
      ColoadIndicator: '',
      PackageStatus: 0,
      PackagePayments: '',
    });
    expect(path).toBe('/add');
    expect(headers).toMatchObject({ authorization: `Bearer ${TOKEN}`, 'x-api-key': TOKEN });
    const signed = { path, headers: headers as Record<string, string>, body: text, atMs: 0 };
    expect(verified(webhookSecret('s'), signed)).toEqual(body);
    expect(await attempted(id)).toMatchObject({
      status: 'delivered',
      last_http_status: 201,
      type: 'package.created',
    });
  });

  test('every status has the number of the contract, and one without a number keeps the last one', async () => {
    const id = await receive();
    await until(async () => region.packages.has(id));
    const statusAfter = async (action: () => Promise<unknown>) => {
      const { path, body } = await caused(action);
      assertFlatPackage('flatPackageUpdated', body);
      expect([path, body['PackageID']]).toEqual(['/update', id]);
      return [body['PackageStatus'], body['Discrepancy'], body['DiscrepancyDescription']];
    };
    expect(await statusAfter(() => record(id, 'on_hold'))).toEqual([0, true, 'The package is on hold.']);
    expect(await statusAfter(() => record(id, 'released'))).toEqual([0, false, '']);
    let manifest = { id: '', number: '' };
    expect(await statusAfter(async () => (manifest = await shipOn(id)))).toEqual([1, false, '']);
    expect(region.packages.get(id)).toMatchObject({ ManifestID: manifest.id, ManifestCode: manifest.number });
    expect(await statusAfter(() => record(id, 'customs_hold'))).toEqual([
      1,
      true,
      'The package is held by customs.',
    ]);
    expect(await statusAfter(() => record(id, 'in_transit'))).toEqual([2, false, '']);
    expect(await statusAfter(() => record(id, 'lost'))).toEqual([2, true, 'The package is lost.']);
    expect(await statusAfter(() => record(id, 'delivered'))).toEqual([4, false, '']);
    expect(await statusAfter(() => record(id, 'returned'))).toEqual([4, true, 'The package was returned.']);
  });

  test('a package without a customer is unknown, its number is masked, and it is claimed once the courier names one', async () => {
    let id = '';
    const { body } = await caused(async () => {
      id = await receive({ tracking_number: `MASKED-${(scans += 1)}-9876`, courier_id: IEX });
    });
    expect(body).toMatchObject({
      Unknown: true,
      Claimed: false,
      UserCode: '',
      FirstName: '',
      LastName: '',
      Branch: '',
    });
    expect(body['TrackingNumber']).toMatch(/^\*+9876$/);
    const claimed = await caused(() =>
      call('updatePackage', 'iex', { package_id: id, user_code: 'IEX-1003' }),
    );
    expect(claimed.path).toBe('/update');
    expect(claimed.body).toMatchObject({
      PackageID: id,
      Unknown: false,
      Claimed: true,
      UserCode: 'IEX-1003',
    });
    expect(claimed.body['TrackingNumber']).toMatch(/^MASKED-/);
    expect([claimed.body['FirstName'], claimed.body['LastName']]).not.toContain('');
  });

  test('a flagged pre-alert of the courier is a discrepancy', async () => {
    const tracking_number = `DISPUTED-${(scans += 1)}`;
    const prealert = { UserCode: 'IEX-1001', TrackingNumber: tracking_number };
    expect((await service.call('submitPrealert', { key: DEMO.apiKeys.IEX, body: prealert })).status).toBe(
      201,
    );
    const { body } = await caused(() => receive({ tracking_number, user_code: 'IEX-1002' }));
    expect(body).toMatchObject({ Discrepancy: true, Unknown: true });
    expect(body['DiscrepancyDescription']).toMatch(/^The owner is in doubt/);
  });

  test('without a token, the field is empty and both headers are missing', async () => {
    const plain = await startReceiver();
    await setFormats({ add: plain.url, token: null });
    await receive();
    await until(async () => plain.received.length === 1);
    await plain.stop();
    const [request] = plain.received;
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ APIToken: '' });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(request?.headers).not.toHaveProperty('x-api-key');
  });
});

describe('the format of a URL', () => {
  test('each URL has its own format, and events contain no token', async () => {
    const plain = await startReceiver();
    await setFormats({ add: plain.url, addFormat: 'event' });
    const id = await receive();
    await until(async () => plain.received.length === 1);
    await plain.stop();
    const [request] = plain.received;
    assertPayload('package.created', JSON.parse(request?.body ?? ''));
    expect(request?.headers).not.toHaveProperty('x-api-key');
    const { body } = await caused(() => record(id, 'on_hold'));
    expect(body).toMatchObject({ PackageID: id, DiscrepancyDescription: 'The package is on hold.' });
  });

  test('a redelivery has the current format and the current state of the package', async () => {
    const plain = await startReceiver();
    await setFormats({ add: plain.url, addFormat: 'event', update: null });
    const id = await receive({ user_code: 'IEX-1001', description: 'Old text' });
    const { delivery_id } = await attempted(id);
    await plain.stop();
    await service.owner.query("update packages set description = 'New text' where id = $1", [id]);
    await setFormats();
    const { headers, body } = await caused(() => redeliver(delivery_id));
    expect(body).toMatchObject({ PackageID: id, Description: 'New text' });
    expect(headers['webhook-id']).toBe(plain.received[0]?.headers['webhook-id']);
  });

  test.each([
    ['add_package', '/add'],
    ['update_package', '/update'],
  ])('a test of %s is a flat package of no customer', async (endpoint, path) => {
    const sent = await caused(() => sendTest(endpoint));
    assertFlatPackage('flatPackageCreated', sent.body);
    expect(sent.path).toBe(path);
    expect(sent.body).toMatchObject({
      PackageID: sent.headers['webhook-id'],
      CourierID: IEX,
      TrackingNumber: 'TEST',
      UserCode: '',
      Unknown: true,
      APIToken: TOKEN,
    });
  });

  test('a package that was removed from the database fails the delivery at once', async () => {
    const eventId = await insertEvent(service.owner);
    const deliveryId = await insertDelivery(service.owner, { eventId, status: 'pending' });
    await redeliver(deliveryId);
    const query = { event_id: eventId };
    const log = async () =>
      (await service.call('listWebhookDeliveries', { as: 'iex', query })).body['data'][0];
    await until(async () => (await log()).status === 'failed');
    expect((await log()).attempts).toMatchObject([
      { outcome: 'rejected', http_status: null, error: 'The package no longer exists. Nothing was sent.' },
    ]);
    expect(region.requests).toEqual([]);
  });
});

describe('the response to a flat package', () => {
  test('409 counts as delivered', async () => {
    const id = await receive();
    const first = await attempted(id);
    await redeliver(first['delivery_id']);
    await until(async () => region.responses['409'] === 1);
    await until(async () => (await attempted(id))['status'] === 'delivered');
    expect(await attempted(id)).toMatchObject({
      origin: 'redelivery',
      last_http_status: 409,
      attempts: [{ outcome: 'delivered', http_status: 409, error: null }],
    });
    const { body } = await service.call('getCourierSettings', { as: 'iex' });
    expect(body['data'].webhooks.add_package).toMatchObject({ state: 'active', failures: 0 });
  });

  test('404 names the unknown customer in the delivery log and is retried', async () => {
    region.unknownCodes.add('IEX-1004');
    const id = await receive({ user_code: 'IEX-1004' });
    const refused = await attempted(id);
    expect(refused).toMatchObject({
      status: 'pending',
      last_http_status: 404,
      next_attempt_at: expect.any(String),
    });
    expect(refused['attempts']).toMatchObject([
      {
        outcome: 'rejected',
        error: expect.stringMatching(
          /^The receiver does not know the customer IEX-1004\. .*api_url_add_package\.$/,
        ),
      },
    ]);
    region.unknownCodes.clear();
    await redeliver(refused['delivery_id']);
    expect(await attempted(id, 2)).toMatchObject({ status: 'delivered', last_http_status: 201 });
  });

  test('404 to a package without a customer names the setting', async () => {
    region.unknownCodes.add('');
    const { delivery_id } = await sendTest('update_package');
    const log = async () =>
      (await service.call('listWebhookDeliveries', { as: 'iex', query: { type: 'webhook.test' } })).body[
        'data'
      ];
    const settled = async () =>
      (await log()).find(
        (each: Reply['body']) => each['delivery_id'] === delivery_id && each['status'] === 'failed',
      );
    await until(async () => (await settled()) !== undefined);
    expect((await settled()).attempts).toMatchObject([
      {
        http_status: 404,
        error: expect.stringMatching(/^The receiver answered 404\. Check api_url_update_package\./),
      },
    ]);
  });

  test.each([404, 409])('%s to an event is a failure without a text', async (status) => {
    const plain = await startReceiver(refuse(status));
    await setFormats({ add: plain.url, addFormat: 'event' });
    const delivery = await attempted(await receive());
    await plain.stop();
    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: [{ outcome: 'rejected', http_status: status, error: null }],
    });
  });

  test('the token is masked in a response that repeats the request, in every spelling', async () => {
    const echo: Receiver = await startReceiver((request, response) => {
      const inPhp = JSON.stringify({ token: TOKEN }).replaceAll('/', '\\/');
      response
        .writeHead(200)
        .end(`${TOKEN} ${encodeURIComponent(TOKEN)} ${inPhp} ${request.body.slice(-600)}`);
    });
    await setFormats({ add: echo.url });
    const delivery = await attempted(await receive());
    await echo.stop();
    const [{ response_start }] = delivery['attempts'];
    expect(response_start).toMatch(/^\*\*\* \*\*\* \{"token":"\*\*\*"\} /);
    for (const spelling of [TOKEN, encodeURIComponent(TOKEN), JSON.stringify(TOKEN).slice(1, -1), 'region'])
      expect(response_start).not.toContain(spelling);
  });
});
