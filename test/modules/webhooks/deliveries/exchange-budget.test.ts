import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { accept, refuse, startReceiver, type Receiver } from '../../../support/receivers/receiver.js';
import { setEndpoints, webhookSecret } from '../../../support/receivers/webhooks.js';
import { until } from '../../../support/service/processes.js';

const { IEX } = DEMO.couriers;
const MIB = 1_048_576;
/** The kinds of courier_quotas that count the exchanges of a URL. */
const [BYTES, FAILURES] = ['exchange_bytes_add_package', 'exchange_failures_add_package'];

const { api, db, service } = withService({ worker: true });
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(async () => {
  await db.query(
    'truncate events, webhook_deliveries, webhook_attempts, webhook_exchanges, webhook_endpoints, courier_quotas',
  );
  receiver.answer = accept;
  const { owner, app } = service();
  const url = `${receiver.url}/hooks`;
  await setEndpoints({ owner, secrets: app.secrets }, { add: url, update: url, secret: webhookSecret('b') });
});
afterAll(() => receiver.stop());

/** Plants how many bytes of exchanges were kept today, and whether one of a failure was in this hour. */
const plantUsage = (bytes: number, hasFailure: boolean) =>
  db.query(
    `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
     select $1, $2, kind, date_trunc(period, now() at time zone 'UTC') at time zone 'UTC', used
     from (values ($3, 'day', $4::bigint), ($5, 'hour', $6::bigint)) as planted (kind, period, used) where used > 0`,
    [DEMO.tenants.demo, IEX, BYTES, bytes, FAILURES, hasFailure ? 1 : 0],
  );
const usageOf = async (kind: string | undefined) => {
  const rows = await db.query<{ used: number }>(
    'select used::int as used from courier_quotas where kind = $1 and courier_id = $2',
    [kind, IEX],
  );
  return rows.map(({ used }) => used);
};

const settled = () => until(async () => (await db.count('webhook_attempts', {})) > 0);
const sendTest = () =>
  api.as('iex').manageWebhookDeliveries({ action: 'send_test', endpoint: 'add_package' }).ok();
const receive = () =>
  api
    .as('warehouse')
    .receivePackage({
      tracking_number: `BUDGET-${randomUUID().slice(0, 8).toUpperCase()}`,
      weight: 1,
      user_code: 'IEX-1001',
    })
    .created();

/** Sends one webhook and returns the number of exchanges that were kept. */
async function countKept(send: () => Promise<unknown>): Promise<number> {
  await db.query('truncate webhook_deliveries, webhook_attempts, webhook_exchanges');
  await send();
  await settled();
  return db.count('webhook_exchanges', {});
}

test('a URL has a budget of 4 MiB per day: half for successes, three quarters for failures, all for tests', async () => {
  const kept: [number, number, number, number][] = [];
  for (const mib of [0, 2, 3, 4]) {
    await db.query('truncate courier_quotas');
    await plantUsage(mib * MIB, true);
    receiver.answer = accept;
    const success = await countKept(receive);
    receiver.answer = refuse(422, 'no');
    kept.push([mib, success, await countKept(receive), await countKept(sendTest)]);
  }
  expect(kept).toEqual([
    [0, 1, 1, 1],
    [2, 0, 1, 1],
    [3, 0, 0, 1],
    [4, 0, 0, 0],
  ]);
});

test('the bytes that were kept are counted, and a new URL does not renew the budget', async () => {
  receiver.answer = refuse(422, 'x'.repeat(20_000));
  expect(await countKept(receive)).toBe(1);
  const [bytes = 0] = await usageOf(BYTES);
  expect(bytes).toBeGreaterThan(16_384);
  expect(bytes).toBeLessThan(20_000);
  expect(await usageOf(FAILURES)).toEqual([1]);
  await plantedTotal(4 * MIB);
  await api
    .as('iex')
    .updateCourierSettings({ api_url_add_package: `${receiver.url}/other` })
    .ok();
  expect(await countKept(receive)).toBe(0);
  expect(await usageOf(BYTES)).toEqual([4 * MIB]);
});

const plantedTotal = (bytes: number) =>
  db.query('update courier_quotas set used = $1 where kind = $2', [bytes, BYTES]);

test('with a used-up budget, the first failure of each hour is kept, and no success', async () => {
  await plantUsage(4 * MIB, false);
  expect(await countKept(receive)).toBe(0);
  receiver.answer = refuse(422, 'no');
  expect(await countKept(receive)).toBe(1);
  expect(await countKept(receive)).toBe(0);
  expect(await countKept(sendTest)).toBe(0);
  // An hour later.
  await db.query(
    "update courier_quotas set period_start = period_start - interval '1 hour' where kind = $1",
    [FAILURES],
  );
  expect(await countKept(receive)).toBe(1);
});

test('the budget of one URL is not that of the other', async () => {
  await plantUsage(4 * MIB, true);
  receiver.answer = refuse(422, 'no');
  const send = () =>
    api.as('iex').manageWebhookDeliveries({ action: 'send_test', endpoint: 'update_package' }).ok();
  expect(await countKept(send)).toBe(1);
});

test('2 KiB of the headers of a response are kept, and it says that they are cut', async () => {
  const read = async () => {
    await countKept(receive);
    const [row] = await db.query<{ id: string }>('select id from webhook_deliveries');
    const { data } = await api
      .as('iex')
      .getWebhookDelivery({ delivery_id: row?.id ?? '' })
      .ok();
    return data.exchanges[0]?.response;
  };
  const headers = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`x-h${n}`, 'é'.repeat(300)]));
  receiver.answer = (_request, response) => response.writeHead(422, { ...headers, date: 'now' }).end();
  const long = await read();
  expect(long?.headers_are_cut).toBe(true);
  const size = Buffer.byteLength(
    Object.entries(long?.headers ?? {})
      .flat()
      .join(''),
  );
  expect(size).toBeGreaterThan(1_900);
  expect(size).toBeLessThanOrEqual(2_048);
  receiver.answer = refuse(422, 'no');
  expect(await read()).toMatchObject({ headers_are_cut: false, headers: { connection: 'keep-alive' } });
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`h${n}`, '1']));
  receiver.answer = (_request, response) => response.writeHead(422, many).end();
  const counted = await read();
  expect(Object.keys(counted?.headers ?? {})).toHaveLength(50);
  expect(counted?.headers_are_cut).toBe(true);
});
