import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { deleteExpired } from '../../../../src/jobs/retention.js';
import { insertDelivery, insertEvent } from '../../../support/builders/deliveries.js';
import { withService, type Fixture } from '../../../support/fixture/with-service.js';
import { accept, refuse, startReceiver, type Receiver } from '../../../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../../../support/receivers/webhooks.js';
import { until } from '../../../support/service/processes.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const TOKEN = 'pa/ss"word';
const SECRET = webhookSecret('k');
const inLowerCase = (text: string) =>
  encodeURIComponent(text).replaceAll(/%../g, (code) => code.toLowerCase());

const exchangeOf = (fixture: Fixture) => async (as: string, id: string) =>
  (await fixture.api.as(as).getWebhookDelivery({ delivery_id: id }).ok()).data.exchanges;

/** Delivers tests and packages to a receiver of its own. */
function withReceiver(fixture: Fixture) {
  const { api, db, service } = fixture;
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  beforeEach(async () => {
    await db.query(
      'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, webhook_endpoints',
    );
    receiver.answer = accept;
    receiver.received.length = 0;
    const url = `${receiver.url}/hooks?key=in-the-query`;
    const { owner, app } = service();
    await setEndpoints(
      { owner, secrets: app.secrets },
      { add: url, update: url, token: TOKEN, secret: SECRET },
    );
  });
  afterAll(() => receiver.stop());

  /** Returns the settled delivery of a new package. */
  async function receive(): Promise<string> {
    const tracking_number = `HOOK-${randomUUID().slice(0, 8).toUpperCase()}`;
    await api.as('warehouse').receivePackage({ tracking_number, weight: 1, user_code: 'IEX-1001' }).created();
    return settled();
  }
  async function settled(): Promise<string> {
    await until(async () => (await db.count('webhook_deliveries', { status: 'pending' })) === 0);
    const [row] = await db.query<{ id: string }>(
      'select id from webhook_deliveries order by created_at desc',
    );
    return row?.id ?? '';
  }
  return { receive, settled, receiver: () => receiver };
}

describe('getWebhookDelivery', () => {
  const fixture = withService({ worker: true, env: { WEBHOOK_RETRY_SECONDS: '1' } });
  const { api, db, service } = fixture;
  const { receive, settled, receiver } = withReceiver(fixture);
  const read = exchangeOf(fixture);

  test('shows the request as it was sent and the response, without secrets', async () => {
    receiver().answer = (request, response) =>
      response
        .writeHead(500, {
          'set-cookie': 'session=1',
          'x-api-key': 'k',
          'content-type': 'text/plain',
          'x-note': TOKEN,
        })
        .end(
          `You sent ${JSON.stringify(request.headers)} ${SECRET} ${inLowerCase(TOKEN)} ${request.path} ©\0`,
        );
    const id = await receive();
    const exchanges = await read('iex', id);
    expect(exchanges.map(({ number }) => number)).toEqual([1, 2]);
    const [{ request, response }] = exchanges as [(typeof exchanges)[0]];
    expect(request).toMatchObject({
      url: `${receiver().url}/hooks?key=***`,
      body: receiver().received[0]?.body,
      body_bytes: Buffer.byteLength(receiver().received[0]?.body ?? ''),
    });
    expect(request.headers).toMatchObject({
      authorization: '***',
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': receiver().received[0]?.headers['webhook-id'],
      'webhook-signature': '***',
    });
    expect(response).toMatchObject({
      headers: { 'set-cookie': '***', 'x-api-key': '***', 'content-type': 'text/plain', 'x-note': '***' },
      is_cut: false,
    });
    expect(response?.body).toContain('You sent {"host"');
    expect(response?.body).toContain('whsec_*** *** /hooks?key=*** ©');
    const text = JSON.stringify(await db.all('webhook_exchanges', {}));
    for (const secret of [TOKEN, 'pa/ss', SECRET.slice(6), 'session=1', 'in-the-query'])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
    expect(await read('manager', id)).toEqual(exchanges);
  });

  test('masks the token in a flat package', async () => {
    const { owner, app } = service();
    const url = `${receiver().url}/flat`;
    await setEndpoints({ owner, secrets: app.secrets }, { add: url, token: TOKEN, addFormat: 'flat' });
    const [exchange] = await read('iex', await receive());
    expect(receiver().received[0]?.body).toContain(JSON.stringify(TOKEN));
    expect(exchange?.request.headers['x-api-key']).toBe('***');
    expect(exchange?.request.body).toBe(
      receiver().received[0]?.body.replaceAll(JSON.stringify(TOKEN).slice(1, -1), '***'),
    );
  });

  test('keeps the first 16 KiB of a long response, in whole characters', async () => {
    receiver().answer = refuse(400, `a${'é'.repeat(10_000)}`);
    const [exchange] = await read('iex', await receive());
    expect(exchange?.response).toMatchObject({ body: `a${'é'.repeat(8_191)}`, is_cut: true });
    receiver().answer = refuse(400, 'x'.repeat(16_384));
    const [whole] = await read('iex', await receive());
    expect(whole?.response).toMatchObject({ body: 'x'.repeat(16_384), is_cut: false });
  });

  test('has no response if none came, and the request of a test', async () => {
    receiver().answer = (_request, response) => response.destroy();
    const { data } = await api
      .as('iex')
      .manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package' })
      .ok();
    expect(data).toHaveProperty('delivery_id');
    const exchanges = await read('iex', await settled());
    expect(exchanges).toMatchObject([{ number: 1, response: null }]);
    expect(exchanges[0]?.request.body).toContain('webhook.test');
  });

  test('keeps the last success of those that are recorded together', async () => {
    const id = await receive();
    expect(await read('iex', id)).toMatchObject([{ number: 1, response: { body: '', is_cut: false } }]);
    // Ten responses that arrive at the same time are recorded together.
    const waiting: (() => void)[] = [];
    receiver().answer = (_request, response) => {
      waiting.push(() => response.writeHead(204).end());
      if (waiting.length === 10) for (const end of waiting.splice(0)) end();
    };
    for (let parcel = 0; parcel < 10; parcel += 1)
      await api
        .as('warehouse')
        .receivePackage({ tracking_number: `MANY-${parcel}`, weight: 1, user_code: 'IEX-1001' })
        .created();
    await settled();
    const kept = await db.count('webhook_exchanges', {});
    expect(kept).toBeGreaterThan(1);
    expect(kept).toBeLessThan(8);
  });

  test('is deleted with its delivery, and earlier when it has expired', async () => {
    const [kept, expired] = [await receive(), await receive()];
    const days = await db.query<{ days: number }>(
      `select distinct round(extract(epoch from expires_at - now()) / 86400)::int as days from webhook_exchanges`,
    );
    expect(days).toEqual([{ days: 30 }]);
    await db.query('update webhook_exchanges set expires_at = now() where delivery_id = $1', [expired]);
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    expect(await read('iex', expired)).toEqual([]);
    expect(await read('iex', kept)).toHaveLength(1);
    await db.query("update webhook_deliveries set created_at = now() - interval '31 days' where id = $1", [
      kept,
    ]);
    await deleteExpired({ db: service().db, stopping: new AbortController().signal });
    await api.as('iex').getWebhookDelivery({ delivery_id: kept }).refused(404, 'delivery_not_found');
    expect(await db.count('webhook_exchanges', {})).toBe(0);
  });

  test('is for managers, administrators and couriers', async () => {
    const delivery_id = randomUUID();
    await api.anonymous.getWebhookDelivery({ delivery_id }).refused(401, 'token_missing');
    await api.as('warehouse').getWebhookDelivery({ delivery_id }).refused(403, 'permission_denied');
    await api.as('admin').getWebhookDelivery({ delivery_id }).refused(404, 'delivery_not_found');
  });
});

describe('with WEBHOOK_EXCHANGE_DAYS=0', () => {
  const fixture = withService({
    worker: true,
    env: { WEBHOOK_EXCHANGE_DAYS: '0', WEBHOOK_RETRY_SECONDS: '1' },
  });
  const { receive, receiver } = withReceiver(fixture);

  test('nothing of requests and responses is kept', async () => {
    receiver().answer = refuse(500, 'no');
    const id = await receive();
    expect(await exchangeOf(fixture)('iex', id)).toEqual([]);
    expect(await fixture.db.count('webhook_attempts', { delivery_id: id })).toBe(2);
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getWebhookDelivery with %s', (_name, options) => {
  const { api, db, service } = withService(options);

  const plant = async (courierId: string, tenantId: string = DEMO.tenants.demo) => {
    const eventId = await insertEvent(service().owner, { courierId, tenantId });
    const id = await insertDelivery(service().owner, { eventId, attempts: 1 });
    await db.query(
      `insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body, request_bytes,
         expires_at) select tenant_id, id, 1, courier_id, 'https://partner.example/', '{}', 'body', 4, now() + interval '1 day'
       from webhook_deliveries where id = $1`,
      [id],
    );
    return id;
  };

  test('shows to a courier and to a tenant only its own exchanges', async () => {
    const [own, sibling, other] = [await plant(IEX), await plant(HRB), await plant(TWO, DEMO.tenants.two)];
    const { data } = await api.as('iex').getWebhookDelivery({ delivery_id: own }).ok();
    expect(data.exchanges).toHaveLength(1);
    await api.as('iex').getWebhookDelivery({ delivery_id: sibling }).refused(404, 'delivery_not_found');
    await api.as('iex').getWebhookDelivery({ delivery_id: other }).refused(404, 'delivery_not_found');
    await api.as('admin').getWebhookDelivery({ delivery_id: sibling }).ok();
    await api.as('admin').getWebhookDelivery({ delivery_id: other }).refused(404, 'delivery_not_found');
  });
});
