import { afterEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeFeedCalls, newOrderId, shopifyOrder, wooOrder, type MadeFeed } from './feed-calls.js';

const { api, db, service } = withService();
const { create, send, announce } = makeFeedCalls(api);

// A courier can have 20.
afterEach(() => service().owner.query('delete from feeds'));

const outcomeOf = async (...sent: Parameters<typeof send>) => (await send(...sent).ok()).data.outcome;
const listed = async (as: string, query: { courier_id?: string } = {}) =>
  (
    await api
      .as(as)
      .listFeedRefusals(unchecked({ limit: 100, ...query }))
      .ok()
  ).data;
const refusalsOf = async ({ id }: MadeFeed, as = 'iex') =>
  (await listed(as)).filter(({ feed_id }) => feed_id === id);

describe('an order that cannot be announced', () => {
  test('is listed with the reason, without names and addresses', async () => {
    const feed = await create('iex', 'woocommerce');
    const [id, number] = [newOrderId(), newNumber()];
    expect(await outcomeOf(feed, wooOrder({ id, numbers: [number], note: 'Ring twice, Marcia' }))).toBe(
      'refused',
    );
    const [refusal, another] = await refusalsOf(feed);
    const [{ name } = {}] = await db.all('feeds', { id: feed.id });
    expect(refusal).toEqual({
      refusal_id: expect.any(String),
      feed_id: feed.id,
      feed_name: name,
      courier_id: DEMO.couriers.IEX,
      reference: String(id),
      tracking_number: number,
      reason: 'no_user_code',
      refused_at: expect.any(String),
    });
    expect(another).toBeUndefined();
    const [stored] = await db.all('feed_refusals', { feed_id: feed.id });
    expect(stored).toEqual({
      tenant_id: DEMO.tenants.demo,
      id: refusal?.refusal_id,
      feed_id: feed.id,
      courier_id: DEMO.couriers.IEX,
      refusal_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      reference: String(id),
      tracking_number: number,
      reason: 'no_user_code',
      refused_at: expect.any(Date),
    });
    expect(await db.count('prealerts', { tracking_number: number })).toBe(0);
  });

  test.each([
    ['several_customers', { address2: 'IEX-1001', note: 'IEX-1002' }],
    ['unknown_user_code', { attributes: [{ name: 'mailbox', value: 'IEX-9999' }] }],
  ])('has the reason %s', async (reason, fields) => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1001');
    expect(await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()], ...fields }))).toBe('refused');
    expect(await refusalsOf(feed)).toMatchObject([{ reason }]);
  });

  test('with a field of an unknown code is not that of a code in another text', async () => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1001');
    const order = { attributes: [{ name: 'mailbox', value: 'IEX-9999' }], address2: 'IEX-1002' };
    expect(await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()], ...order }))).toBe('refused');
    expect(await refusalsOf(feed)).toMatchObject([{ reason: 'unknown_user_code' }]);
  });

  test.each([
    'n/a',
    'pending',
    'https://track.example.com/?n=AB1234567898',
    'AB1234567890 CD1234567891',
    'AB1234567890; CD1234567891',
    '1Z999AA10123457003, 1Z999AA10123457004',
  ])('because %s is no number, or several, is refused', async (sent) => {
    const feed = await create('iex', 'woocommerce', undefined, 'IEX-1001');
    expect(await outcomeOf(feed, wooOrder({ id: newOrderId(), numbers: [sent] }))).toBe('refused');
    expect(await refusalsOf(feed)).toMatchObject([
      { reason: 'invalid_tracking_number', tracking_number: sent },
    ]);
  });

  test('whose customer was deactivated is not that of another one', async () => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1002');
    await service().owner.query("update customers set is_active = false where user_code = 'IEX-1002'");
    expect(await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()] }))).toBe('refused');
    await service().owner.query("update customers set is_active = true where user_code = 'IEX-1002'");
    expect(await refusalsOf(feed)).toMatchObject([{ reason: 'unknown_user_code' }]);
  });

  test('with too many numbers announces none of them', async () => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1001');
    const numbers = Array.from({ length: 51 }, newNumber);
    expect(await outcomeOf(feed, shopifyOrder({ numbers }))).toBe('refused');
    expect(await refusalsOf(feed)).toMatchObject([{ reason: 'too_many_numbers', tracking_number: null }]);
    expect(await outcomeOf(feed, shopifyOrder({ numbers: numbers.slice(1) }))).toBe('announced');
    expect(await db.count('prealerts', { tracking_number: numbers[50] ?? '' })).toBe(1);
  });

  test('does not keep its other parcels from being announced', async () => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1001');
    const [good, taken] = [newNumber(), newNumber()];
    await announce('iex', taken, 'IEX-1002');
    const numbers = [good, taken, '**6784', '9'.repeat(256)];
    expect(await outcomeOf(feed, shopifyOrder({ numbers }))).toBe('announced');
    const reasons = (await refusalsOf(feed)).map((each) => [each.tracking_number, each.reason]);
    expect(Object.fromEntries(reasons)).toEqual({
      [taken]: 'other_customer',
      '**6784': 'invalid_tracking_number',
      null: 'invalid_tracking_number',
    });
    expect(await db.all('prealerts', { tracking_number: taken })).toMatchObject([{ user_code: 'IEX-1002' }]);
  });
});

describe('a refused parcel', () => {
  test('is listed once, however often its order arrives at once', async () => {
    const feed = await create('iex', 'shopify');
    const order = shopifyOrder({ numbers: [newNumber()] });
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcomeOf(feed, order)));
    expect(new Set(outcomes)).toEqual(new Set(['refused']));
    expect(await refusalsOf(feed)).toHaveLength(1);
    expect(await db.count('feed_events', { feed_id: feed.id })).toBe(0);
  });

  test('is announced and leaves the list when the same event arrives after the cause is corrected', async () => {
    const feed = await create('iex', 'shopify');
    const number = newNumber();
    const order = shopifyOrder({ numbers: [number] });
    expect(await outcomeOf(feed, order)).toBe('refused');
    await api.as('iex').manageFeeds({ action: 'update', feed_id: feed.id, user_code: 'IEX-1001' }).ok();
    expect(await outcomeOf(feed, order)).toBe('announced');
    expect(await refusalsOf(feed)).toEqual([]);
    expect(await db.count('prealerts', { tracking_number: number })).toBe(1);
  });

  test('leaves the list when a later event of its order names the customer', async () => {
    const feed = await create('iex', 'shopify');
    const id = newOrderId();
    const fulfillment = { id: 9, order_id: id, name: `#${id}.1`, tracking_numbers: [newNumber()] };
    expect(await outcomeOf(feed, fulfillment)).toBe('refused');
    const order = shopifyOrder({ id, numbers: fulfillment.tracking_numbers, note: 'Box IEX-1001' });
    expect(await outcomeOf(feed, order)).toBe('announced');
    expect(await refusalsOf(feed)).toEqual([]);
  });

  test('is listed for its courier and for managers, and goes with its feed', async () => {
    const feed = await create('iex', 'shopify');
    await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()] }));
    expect(await refusalsOf(feed, 'hrb')).toEqual([]);
    expect(await refusalsOf(feed, 'two/admin')).toEqual([]);
    expect(await refusalsOf(feed, 'manager')).toHaveLength(1);
    const ofCourier = await listed('manager', { courier_id: DEMO.couriers.HRB });
    expect(ofCourier.filter(({ courier_id }) => courier_id !== DEMO.couriers.HRB)).toEqual([]);
    await api.as('warehouse').listFeedRefusals(unchecked({})).refused(403, 'permission_denied');
    await api.anonymous.listFeedRefusals(unchecked({})).refused(401, 'token_missing');
    await api
      .as('iex')
      .listFeedRefusals(unchecked({ limit: 101 }))
      .refused(400, 'validation_failed');
    await api.as('iex').manageFeeds({ action: 'delete', feed_id: feed.id }).ok();
    expect(await db.count('feed_refusals', { feed_id: feed.id })).toBe(0);
  });
});

test('the customer of another courier is nobody, however its order names it', async () => {
  const feed = await create('hrb', 'shopify');
  const attributes = [{ name: 'user_code', value: 'IEX-1001' }];
  expect(await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()], address2: 'IEX-1001' }))).toBe(
    'refused',
  );
  expect(await outcomeOf(feed, shopifyOrder({ numbers: [newNumber()], attributes }))).toBe('refused');
  const reasons = (await refusalsOf(feed, 'hrb')).map(({ reason }) => reason).sort();
  expect(reasons).toEqual(['no_user_code', 'unknown_user_code']);
});

describe('the customer of a feed', () => {
  const userCodeOf = async (id: string) =>
    (await api.as('iex').listFeeds({ courier_id: undefined }).ok()).data.find((each) => each.feed_id === id)
      ?.user_code;

  test('is one of its courier, and keeps to the customer who is renamed', async () => {
    const feed = await create('iex', 'shopify', undefined, 'IEX-1002');
    expect(await userCodeOf(feed.id)).toBe('IEX-1002');
    await service().owner.query("update customers set user_code = 'IEX-1002B' where user_code = 'IEX-1002'");
    expect(await userCodeOf(feed.id)).toBe('IEX-1002B');
    const number = newNumber();
    expect(await outcomeOf(feed, shopifyOrder({ numbers: [number] }))).toBe('announced');
    expect(await db.all('prealerts', { tracking_number: number })).toMatchObject([
      { user_code: 'IEX-1002B' },
    ]);
    await service().owner.query("update customers set user_code = 'IEX-1002' where user_code = 'IEX-1002B'");
    const update = { action: 'update', feed_id: feed.id } as const;
    await api
      .as('iex')
      .manageFeeds({ ...update, user_code: null })
      .ok();
    expect(await userCodeOf(feed.id)).toBeNull();
    expect(
      (
        await api
          .as('iex')
          .manageFeeds({ ...update, user_code: null })
          .ok()
      ).message,
    ).toMatch(/already/);
  });

  test('may be deleted, and its orders name none then', async () => {
    const user_code = `GONE-${newNumber()}`;
    const fields = { user_code, first_name: 'Ana', last_name: 'Castillo' };
    const { data } = await api.as('iex').createCustomer(unchecked(fields)).ok();
    const feed = await create('iex', 'woocommerce', undefined, user_code);
    await api
      .as('iex')
      .deleteCustomer(unchecked({ courier_customer_id: data.id }))
      .ok();
    expect((await db.all('feeds', { id: feed.id }))[0]).toMatchObject({ customer_id: null });
    const numbers = [newNumber()];
    expect(await outcomeOf(feed, wooOrder({ id: newOrderId(), numbers }))).toBe('refused');
    expect(await refusalsOf(feed)).toMatchObject([{ reason: 'no_user_code' }]);
  });

  test('is refused if it is no active customer of the courier, or if the feed is one of carriers', async () => {
    const feed = { action: 'create', name: 'Shop', kind: 'shopify' } as const;
    const [other] = await db.all('customers', { courier_id: DEMO.couriers.HRB });
    for (const code of ['IEX-9999', other?.user_code ?? ''])
      await api
        .as('iex')
        .manageFeeds({ ...feed, user_code: code })
        .refused(400, 'unknown_user_code');
    const carrier = { ...feed, kind: 'easypost', user_code: 'IEX-1001' } as const;
    await api.as('iex').manageFeeds(carrier).refused(400, 'validation_failed');
    const { id } = await create('iex', 'shippo');
    await api
      .as('iex')
      .manageFeeds({ action: 'update', feed_id: id, user_code: 'IEX-1001' })
      .refused(400, 'validation_failed');
  });
});

test('bodies of any form are answered, and never with 500', async () => {
  const VALUES = [
    null,
    0,
    -1,
    1e300,
    '',
    '\u0000\ud83d',
    '9'.repeat(300),
    [],
    [[]],
    {},
    { a: 1 },
    [null, 5],
    true,
  ];
  const NAMES = [
    'id',
    'order_id',
    'fulfillments',
    'meta_data',
    'shipping_address',
    'shipping',
    'note_attributes',
    'line_items',
  ];
  const feeds = [
    await create('iex', 'shopify', undefined, 'IEX-1001'),
    await create('iex', 'woocommerce', undefined, 'IEX-1001'),
  ];
  const failed: unknown[] = [];
  for (const [feed, orderOf] of [
    [feeds[0], shopifyOrder],
    [feeds[1], wooOrder],
  ] as const)
    for (const name of [...NAMES, 'name', 'number', 'note', 'customer_note'])
      for (const value of VALUES) {
        const body = { ...orderOf({ numbers: ['A\u0000B', newNumber()] }), [name]: value };
        const { status } = await send(feed ?? { id: '', secret: '', kind: 'shopify' }, body).answer();
        if (status !== 200 && status !== 400) failed.push([name, value, status]);
      }
  expect(failed).toEqual([]);
});
