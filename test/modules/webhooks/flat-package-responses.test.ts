import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertDelivery, insertEvent } from '../../support/builders/deliveries.js';
import { refuse, startReceiver, type Receiver } from '../../support/receivers/receiver.js';
import { assertFlatPackage, assertPayload } from '../../support/receivers/webhook-payloads.js';
import { until } from '../../support/service/processes.js';
import { TOKEN, withRegion } from './flat-package-region.js';

const { IEX } = DEMO.couriers;
const { api, db, service, region, setFormats, receive, caused, record, attempted, sendTest } = withRegion();

const redeliver = async (delivery_id: string) =>
  (await api.as('iex').manageWebhookDeliveries({ action: 'redeliver', delivery_id }).ok()).data;

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
    await db.query("update packages set description = 'New text' where id = $1", [id]);
    await setFormats();
    const { headers, body } = await caused(() => redeliver(delivery_id));
    expect(body).toMatchObject({ PackageID: id, Description: 'New text' });
    expect(headers['webhook-id']).toBe(plain.received[0]?.headers['webhook-id']);
  });

  test.each([
    ['add_package', '/add'],
    ['update_package', '/update'],
  ] as const)('a test of %s is a flat package of no customer', async (endpoint, path) => {
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
    const eventId = await insertEvent(service().owner);
    const deliveryId = await insertDelivery(service().owner, { eventId, status: 'pending' });
    await redeliver(deliveryId);
    const log = async () => (await api.as('iex').listWebhookDeliveries({ event_id: eventId }).ok()).data[0];
    await until(async () => (await log())?.status === 'failed');
    expect((await log())?.attempts).toMatchObject([
      { outcome: 'rejected', http_status: null, error: 'The package no longer exists. Nothing was sent.' },
    ]);
    expect(region.requests).toEqual([]);
  });
});

describe('the response to a flat package', () => {
  test('409 counts as delivered', async () => {
    const id = await receive();
    const first = await attempted(id);
    await redeliver(first.delivery_id);
    await until(async () => region.responses['409'] === 1);
    await until(async () => (await attempted(id)).status === 'delivered');
    expect(await attempted(id)).toMatchObject({
      origin: 'redelivery',
      last_http_status: 409,
      attempts: [{ outcome: 'delivered', http_status: 409, error: null }],
    });
    const { data } = await api.as('iex').getCourierSettings().ok();
    expect(data.webhooks.add_package).toMatchObject({ state: 'active', failures: 0 });
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
    expect(refused.attempts).toMatchObject([
      {
        outcome: 'rejected',
        error: expect.stringMatching(
          /^The receiver does not know the customer IEX-1004\. .*api_url_add_package\.$/,
        ),
      },
    ]);
    region.unknownCodes.clear();
    await redeliver(refused.delivery_id);
    expect(await attempted(id, 2)).toMatchObject({ status: 'delivered', last_http_status: 201 });
  });

  test('404 to a package without a customer names the setting', async () => {
    region.unknownCodes.add('');
    const { delivery_id } = await sendTest('update_package');
    const settled = async () => {
      const { data } = await api.as('iex').listWebhookDeliveries({ type: 'webhook.test' }).ok();
      return data.find((each) => each.delivery_id === delivery_id && each.status === 'failed');
    };
    await until(async () => (await settled()) !== undefined);
    expect((await settled())?.attempts).toMatchObject([
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
    const response_start = delivery.attempts[0]?.response_start;
    expect(response_start).toMatch(/^\*\*\* \*\*\* \{"token":"\*\*\*"\} /);
    for (const spelling of [TOKEN, encodeURIComponent(TOKEN), JSON.stringify(TOKEN).slice(1, -1), 'region'])
      expect(response_start).not.toContain(spelling);
  });
});
