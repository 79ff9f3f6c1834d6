import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeFeedCalls, newOrderId, shopifyOrder, SIGNED, wooOrder } from './feed-calls.js';

const { IEX } = DEMO.couriers;
const KINDS = ['shopify', 'woocommerce'] as const;
const ORDERS = { shopify: shopifyOrder, woocommerce: wooOrder } as const;

const { api, db, service } = withService();
const { create, send, sendWith, announce } = makeFeedCalls(api);

// A courier can have 20.
afterEach(() => service().owner.query('delete from feeds'));

const outcomeOf = async (...sent: Parameters<typeof send>) => (await send(...sent).ok()).data.outcome;
const prealertsOf = (number: string) => db.all('prealerts', { tracking_number: number });

describe.each(KINDS)('an order of %s', (kind) => {
  const orderOf = ORDERS[kind];

  test('becomes a pre-alert for each of its numbers, and its body is not stored', async () => {
    const feed = await create('iex', kind);
    const [first, second] = [newNumber(), newNumber()];
    const order = orderOf({ numbers: [first, second], address2: 'Box IEX-1001' });
    const spaced = `  ${JSON.stringify(order).replaceAll(',', ' ,\n')}`;
    expect(await outcomeOf(feed, spaced)).toBe('announced');
    const [{ name } = {}] = await db.all('feeds', { id: feed.id });
    for (const number of [first, second])
      expect(await prealertsOf(number)).toMatchObject([
        {
          courier_id: IEX,
          user_code: 'IEX-1001',
          status: 'pending',
          vendor: name,
          description: '3 × Paperback, Lamp',
          reference: kind === 'shopify' ? `#${order.id}` : String(order.id),
        },
      ]);
    const [made] = await prealertsOf(first);
    expect(await db.all('audit_entries', { entity_id: made?.id ?? '' })).toMatchObject([
      { action: 'prealert.created', actor_kind: 'system', remarks: 'feed' },
    ]);
    // One of the event, and one for each parcel.
    const keys = (await db.all('feed_events', { feed_id: feed.id })).map(({ event_key: key }) => key);
    expect(keys.map((key) => /^[0-9a-f]{64}$/.test(key))).toEqual([true, true, true]);
  });

  test('with a signature of other bytes, another secret or none is refused', async () => {
    const [feed, other] = [await create('iex', kind), await create('hrb', kind)];
    const number = newNumber();
    const body = JSON.stringify(orderOf({ numbers: [number], address2: 'IEX-1001' }));
    const signed = SIGNED[kind](feed.secret, body);
    const wrongKind = KINDS.find((each) => each !== kind) ?? 'shopify';
    const [[name, value] = ['', '']] = Object.entries(signed);
    const refused = [
      await sendWith(feed.id, `${body} `, signed).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, SIGNED[kind](other.secret, body)).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, SIGNED[wrongKind](feed.secret, body)).refused(
        401,
        'feed_signature_invalid',
      ),
      await sendWith(feed.id, body, {}, feed.secret).refused(401, 'feed_signature_invalid'),
      await sendWith(feed.id, body, { [name]: value.slice(0, -1) }).refused(401, 'feed_signature_invalid'),
      await sendWith(other.id, body, signed).refused(401, 'feed_signature_invalid'),
    ];
    expect(new Set(refused.map(({ message }) => message)).size).toBe(1);
    expect(await prealertsOf(number)).toEqual([]);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(0);
  });

  test('that 50 callers send at once is announced once', async () => {
    const feed = await create('iex', kind);
    const number = newNumber();
    const body = JSON.stringify(orderOf({ numbers: [number], address2: 'IEX-1001' }));
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => outcomeOf(feed, body)));
    expect(outcomes.filter((outcome) => outcome === 'announced')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'repeated')).toHaveLength(49);
    expect(await prealertsOf(number)).toHaveLength(1);
  });

  test('that is updated in 50 ways at once is announced once', async () => {
    const feed = await create('iex', kind);
    const id = newOrderId();
    const [first, second] = [newNumber(), newNumber()];
    const sent = Array.from({ length: 50 }, (_each, index) => {
      const numbers = index % 2 === 0 ? [first, second] : [second, first];
      return outcomeOf(feed, { ...orderOf({ id, numbers, address2: 'IEX-1001' }), updated: index });
    });
    const outcomes = await Promise.all(sent);
    expect(new Set(outcomes)).toEqual(new Set(['announced', 'repeated']));
    expect(await prealertsOf(first)).toHaveLength(1);
    expect(await prealertsOf(second)).toHaveLength(1);
    expect(await db.count('feed_refusals', { feed_id: feed.id })).toBe(0);
  });

  test('with a further number announces that one, whatever the order of arrival', async () => {
    const feed = await create('iex', kind);
    const id = newOrderId();
    const [first, second] = [newNumber(), newNumber()];
    const early = orderOf({ id, numbers: [first], address2: 'IEX-1001' });
    const late = orderOf({ id, numbers: [first, second], address2: 'IEX-1001' });
    expect(await outcomeOf(feed, late)).toBe('announced');
    expect(await outcomeOf(feed, early)).toBe('repeated');
    const third = newNumber();
    const next = orderOf({ id, numbers: [first, second, third], address2: 'IEX-1001' });
    expect(await outcomeOf(feed, next)).toBe('announced');
    expect(
      (await prealertsOf(first)).concat(await prealertsOf(second), await prealertsOf(third)),
    ).toHaveLength(3);
  });

  test('does not announce again what was deleted, and changes no pre-alert that exists', async () => {
    const feed = await create('iex', kind);
    const id = newOrderId();
    const [deleted, existing] = [newNumber(), newNumber()];
    const prealertId = await announce('iex', existing);
    await service().owner.query("update prealerts set status = 'flagged' where id = $1", [prealertId]);
    const before = await prealertsOf(existing);
    const order = orderOf({ id, numbers: [deleted, existing], address2: 'IEX-1001' });
    expect(await outcomeOf(feed, order)).toBe('announced');
    const [made] = await prealertsOf(deleted);
    await api
      .as('iex')
      .deletePrealert({ prealert_id: made?.id ?? '' })
      .ok();
    expect(
      await outcomeOf(feed, { ...order, cancelled_at: '2026-11-30T10:00:00Z', status: 'cancelled' }),
    ).toBe('repeated');
    expect(await prealertsOf(deleted)).toEqual([]);
    expect(await prealertsOf(existing)).toEqual(before);
  });

  test('without a number is ignored, and shows that the feed is connected', async () => {
    const feed = await create('iex', kind);
    expect(await outcomeOf(feed, orderOf({ numbers: [], address2: 'IEX-1001' }))).toBe('ignored');
    const [{ last_received_at: last } = {}] = await db.all('feeds', { id: feed.id });
    expect(last).toBeInstanceOf(Date);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(0);
  });

  test('counts each number against what the courier may receive', async () => {
    const feed = await create('hrb', kind, undefined, null);
    const [customer] = await db.all('customers', {
      courier_id: DEMO.couriers.HRB,
      is_active: true,
    });
    await service().owner.query(
      `insert into courier_quotas (tenant_id, courier_id, kind, period_start, used)
       values ($1, $2, 'feed_events', date_trunc('day', now() at time zone 'UTC') at time zone 'UTC', 49999)
       on conflict (tenant_id, courier_id, kind, period_start) do update set used = 49999`,
      [DEMO.tenants.demo, DEMO.couriers.HRB],
    );
    const numbers = [newNumber(), newNumber()];
    const attributes = [{ name: 'user_code', value: customer?.user_code ?? '' }];
    const order = orderOf({ numbers, attributes });
    await send(feed, order).refused(429, 'quota_exceeded');
    expect(await prealertsOf(numbers[0] ?? '')).toEqual([]);
    await service().owner.query("delete from courier_quotas where kind = 'feed_events'");
    expect(await outcomeOf(feed, order)).toBe('announced');
  });
});

test('a fulfillment and its order announce a number once', async () => {
  const feed = await create('iex', 'shopify');
  const id = newOrderId();
  const number = newNumber();
  const destination = { address2: 'IEX-1001' };
  const fulfillment = { id: 9, order_id: id, name: `#${id}.1`, tracking_numbers: [number], destination };
  expect(await outcomeOf(feed, fulfillment)).toBe('announced');
  expect(await outcomeOf(feed, shopifyOrder({ id, numbers: [number], address2: 'IEX-1001' }))).toBe(
    'repeated',
  );
  expect(await prealertsOf(number)).toMatchObject([{ reference: `#${id}` }]);
});

test('the orders of two shops can have the same id', async () => {
  const [one, two] = [await create('iex', 'shopify'), await create('iex', 'shopify')];
  const id = newOrderId();
  const [first, second] = [newNumber(), newNumber()];
  expect(await outcomeOf(one, shopifyOrder({ id, numbers: [first], address2: 'IEX-1001' }))).toBe(
    'announced',
  );
  expect(await outcomeOf(two, shopifyOrder({ id, numbers: [second], address2: 'IEX-1001' }))).toBe(
    'announced',
  );
});

test('a parcel that the warehouse has received is announced as received', async () => {
  const feed = await create('iex', 'shopify');
  const number = newNumber();
  await service().owner.query(
    `insert into packages select (jsonb_populate_record(p, jsonb_build_object('id', new_id(), 'tracking_number', $1::text,
       'tracking_key', $1::text, 'house_number', $1::text))).* from packages p where courier_id = $2 and user_code = 'IEX-1001' limit 1`,
    [number, IEX],
  );
  expect(await outcomeOf(feed, shopifyOrder({ numbers: [number], address2: 'IEX-1001' }))).toBe('announced');
  expect(await prealertsOf(number)).toMatchObject([{ status: 'received' }]);
});

test.each([
  ['shopify', shopifyOrder({ numbers: ['DUP-12345', 'dup-12345'] })],
  ['woocommerce', wooOrder({ numbers: ['1Z999AA10123456784', '1Z 999 AA1 0123 4567 84'] })],
] as const)('a number that an order of %s has in two spellings is one parcel', async (kind, order) => {
  const refused = await create('iex', kind);
  expect((await send(refused, order).ok()).data.outcome).toBe('refused');
  expect(await db.count('feed_refusals', { feed_id: refused.id })).toBe(1);
  const announced = await create('iex', kind, undefined, 'IEX-1001');
  expect((await send(announced, order).ok()).data.outcome).toBe('announced');
});

describe('the first call of a webhook of WooCommerce', () => {
  const ping = (feedId: string, body = 'webhook_id=4') =>
    api.anonymous.receiveFeedEvent(unchecked(body), {
      query: { feed_id: feedId },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  test('is answered with 200 without a signature, and changes nothing', async () => {
    const feed = await create('iex', 'woocommerce');
    expect((await ping(feed.id).ok()).data).toEqual({ outcome: 'ignored' });
    expect((await ping(feed.id, 'id=5&meta_data=x').ok()).data).toEqual({ outcome: 'ignored' });
    const [stored] = await db.all('feeds', { id: feed.id });
    expect(stored?.last_received_at).toBeNull();
  });

  test('is refused by other feeds, and by one that is switched off', async () => {
    const [shopify, woo] = [await create('iex', 'shopify'), await create('iex', 'woocommerce')];
    await api.as('iex').manageFeeds({ action: 'update', feed_id: woo.id, is_active: false }).ok();
    for (const id of [shopify.id, woo.id, shopify.id.replace(/.$/, '0')])
      await ping(id).refused(401, 'feed_signature_invalid');
  });
});
