import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { matching } from '../../../support/assertions/matching.js';
import { emptyQueue } from '../../../support/receivers/outbound.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { figuresOf, withDispatch } from './queued-dispatch.js';

const { IEX, HRB } = DEMO.couriers;
const { api, service, dispatch, select, idsWhere, queuedSyncs, queued } = withDispatch();

test('the plain operation queues the same packages as the action, by ids and by filters', async () => {
  const ids = await idsWhere(`courier_id = '${IEX}' and user_code is not null`);
  const selections = [{ package_ids: ids.slice(0, 3) }, { courierID: HRB }, {}];
  const clear = async () => {
    await service().owner.query('delete from package_syncs');
    await emptyQueue(service().owner);
  };
  for (const body of selections) {
    const plain = await api.as('admin').queueDispatch(body).answer();
    const packages = await queued();
    await clear();
    const action = await dispatch('admin', body).answer();
    expect([plain.status, plain.message]).toEqual([200, action.message]);
    expect([figuresOf(plain), packages]).toEqual([figuresOf(action), await queued()]);
    await clear();
  }
  const named = { as: 'iex', body: { courierID: HRB } };
  expect((await api.with(named).queueDispatch().ok()).data.total_selected).toBe(
    (await idsWhere(`courier_id = '${IEX}'`)).length,
  );
  expect(await api.anonymous.queueDispatch().status()).toBe(401);
  const undeclared = { as: 'iex', body: { action: 'queue_dispatch' } };
  expect(await api.with(undeclared).queueDispatch().answer()).toMatchObject({
    status: 400,
    body: { errors: [{ field: 'action' }] },
  });
});

describe('dispatch by package ids', () => {
  test('queues the packages for their couriers with one delivery job per courier', async () => {
    const ids = [DEMO.packages.available.IEX[0], DEMO.packages.available.HRB[0]].map(String);
    const reply = await dispatch('manager', { package_ids: ids }).ok();
    expect(reply.body).toMatchObject({
      status: 'success',
      message: 'A live sync was triggered for 2 packages.',
      data: { total_selected: 2, total_queued: 2 },
    });
    expect(await queued()).toEqual([...ids].sort());
    const couriers = Object.fromEntries(
      (await queuedSyncs()).map(({ package_id, courier_id }) => [package_id, courier_id]),
    );
    expect(couriers).toEqual({ [String(ids[0])]: IEX, [String(ids[1])]: HRB });
  });

  test('ids take precedence over filters', async () => {
    const [id] = DEMO.packages.available.IEX;
    const reply = await dispatch('admin', {
      package_ids: [id],
      courierID: HRB,
      houseNumber: 'NONE',
    }).answer();
    expect(figuresOf(reply)).toEqual([1, 1]);
    expect(await queued()).toEqual([id]);
  });

  test('queues a package once if its id is repeated, in capitals too', async () => {
    const id = String(DEMO.packages.available.IEX[0]);
    expect(figuresOf(await dispatch('admin', { package_ids: [id, id, id.toUpperCase()] }).answer())).toEqual([
      1, 1,
    ]);
    expect(await queued()).toEqual([id]);
  });

  test('omits packages that the caller may not see, without an error', async () => {
    const own = String(DEMO.packages.available.IEX[0]);
    const others = [
      DEMO.packages.available.HRB[0],
      DEMO.packages.two[0],
      DEMO.packages.ownerUnknown[0],
      randomUUID(),
    ];
    expect(figuresOf(await dispatch('iex', { package_ids: [own, ...others] }).answer())).toEqual([1, 1]);
    expect(await queued()).toEqual([own]);
    const nothing = await dispatch('iex', { package_ids: others }).answer();
    expect(nothing.message).toBe('A live sync was triggered for 0 packages.');
    expect(figuresOf(nothing)).toEqual([0, 0]);
    expect(await queued()).toEqual([own]);
  });

  test('selects packages without a courier but queues none of them, and says so', async () => {
    const reply = await dispatch('admin', { package_ids: [...DEMO.packages.ownerUnknown] }).answer();
    expect(figuresOf(reply)).toEqual([3, 0]);
    expect(reply.message).toMatch(/^A live sync was triggered for 3 packages. None was queued: they /);
    expect(await queued()).toEqual([]);
  });
});

describe('dispatch by filter', () => {
  test.each(['queueDispatch', 'listPackages'] as const)(
    '%s without a known filter says that it selected all, and which keys it ignored',
    async (id) => {
      const action = id === 'listPackages' ? { action: 'queue_dispatch' } : {};
      const body = { ...action, colour: 'red', packages: [] };
      const { message } = await api.with({ as: 'iex', body })[id]().answer();
      expect(message).toContain('The request has no filter, so it selected all of them.');
      expect(message).toContain('Ignored, because the operation has no such fields: colour, packages.');
      const filtered = await dispatch('iex', { userCode: 'IEX-1001' }).ok();
      expect(filtered.message).not.toMatch(matching(/all of them|Ignored/, 'selected all of them', message));
    },
  );

  test('queues every matching package on all pages, as many as the list counts', async () => {
    const filters = { userCode: 'IEX-1001' };
    const list = await api.as('admin').listPackages(filters).answer();
    const reply = await dispatch('admin', { ...filters, page: 2, limit: 1 }).answer();
    expect(figuresOf(reply)).toEqual([list.meta.total_count, list.meta.total_count]);
    expect(await queued()).toEqual(await idsWhere("user_code = 'IEX-1001'"));
  });

  test('queues every visible package with a courier if there is no filter', async () => {
    const all = await idsWhere('true');
    const owned = await idsWhere('courier_id is not null');
    expect(figuresOf(await dispatch('warehouse').answer())).toEqual([all.length, owned.length]);
    expect(await queued()).toEqual(owned);
  });

  test.each([
    ['iex', IEX],
    ['hrb', HRB],
  ])('courier %s queues its own packages, whatever courierID it sends', async (as, courierId) => {
    const own = await idsWhere(`courier_id = '${courierId}'`);
    for (const courierID of [IEX, HRB, DEMO.couriers.TWO]) {
      expect(figuresOf(await dispatch(as, { courierID }).answer())[0]).toBe(own.length);
    }
    expect(await queued()).toEqual(own);
  });

  test('a courier selects masked tracking numbers by their visible part only', async () => {
    const [id] = DEMO.packages.customerUnknown.IEX;
    const [row] = await select<{ tracking_number: string }>(
      'select tracking_number from packages where id = $1',
      [id],
    );
    const number = row?.tracking_number ?? '';
    expect(figuresOf(await dispatch('iex', { trackingNumber: number }).answer())).toEqual([0, 0]);
    expect(figuresOf(await dispatch('admin', { trackingNumber: number }).answer())).toEqual([1, 1]);
  });

  test('rejects an empty list of ids instead of queueing everything', async () => {
    const reply = await dispatch('admin', { package_ids: [] }).answer();
    expect(reply).toMatchObject({ status: 400, body: { errors: [{ field: 'package_ids' }] } });
    expect(await queued()).toEqual([]);
  });
});

describe('dispatch audit', () => {
  const entryOf = async (id: string) =>
    await select<{ action: string; actor_id: string; after: Record<string, unknown> }>(
      'select * from audit_entries where entity_id = $1',
      [id],
    );

  test('writes one entry with the filters and the number of packages', async () => {
    const { data } = await dispatch('manager', { userCode: 'IEX-1001', unknown_key: 'x' }).answer();
    const entries = await entryOf(data.dispatch_id);
    expect(entries).toHaveLength(1);
    expect(entries[0]).toMatchObject({
      action: 'dispatch.queued',
      entity: 'dispatch',
      actor_id: DEMO.users.manager,
      after: { selected: data.total_selected, filters: { userCode: 'IEX-1001' } },
    });
    expect(JSON.stringify(entries[0]?.after)).not.toContain('unknown_key');
  });

  test('repeats only the first hundred of thousands of ids', async () => {
    const ids = Array.from({ length: 5_000 }, () => randomUUID());
    const { data } = await dispatch('admin', { package_ids: ids }).answer();
    const [entry] = await entryOf(data.dispatch_id);
    expect(entry?.after['package_ids']).toEqual({ count: 5_000, first: ids.slice(0, 100) });
  });
});

test.each(['queue', 'QUEUE_DISPATCH', '', 'export', null, 1])(
  'rejects the action %j with 400 and queues nothing',
  async (action) => {
    const reply = await dispatch('admin', { action }).answer();
    expect(reply).toMatchObject({
      status: 400,
      body: {
        code: 'validation_failed',
        errors: expect.arrayContaining([expect.objectContaining({ field: 'action' })]),
      },
    });
    expect(await queued()).toEqual([]);
  },
);

test('denies anonymous callers and disabled accounts', async () => {
  const body = { action: 'queue_dispatch' };
  expect((await api.anonymous.listPackages(unchecked(body)).answer()).body).toMatchObject({
    code: 'token_missing',
  });
  expect((await dispatch('disabled').answer()).body).toMatchObject({ code: 'account_disabled' });
  expect(await queued()).toEqual([]);
});
