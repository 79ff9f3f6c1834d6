import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { emptyQueue, waitingJobs } from '../../support/receivers/outbound.js';
import { untilAdmitted, type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';

const { IEX, HRB } = DEMO.couriers;
const TENANT = DEMO.tenants.demo;

const { api, service } = withService({ poolSize: 20 });
beforeAll(async () => {
  await setUrls('https://receiver.example.com/update');
}, 60_000);

afterEach(async () => {
  await service().owner.query('delete from package_syncs');
  await emptyQueue(service().owner);
});

const setUrls = (url: string | null, courierId: string | null = null) =>
  service().owner.query(
    'update couriers set api_url_update_package = $1 where $2::uuid is null or id = $2::uuid',
    [url, courierId],
  );

const dispatch = (as: string, body: object = {}) =>
  api.as(as).listPackages({ action: 'queue_dispatch', ...body });

const select = async <Row>(statement: string, values: unknown[] = []) =>
  (await service().owner.query(statement, values)).rows as Row[];

const idsWhere = async (condition: string) =>
  (
    await select<{ id: string }>(
      `select id from packages where tenant_id = $1 and ${condition} order by id`,
      [TENANT],
    )
  ).map(({ id }) => id);

type SyncRow = { package_id: string; courier_id: string; job_id: string; settled_at: Date | null };

const queuedSyncs = () =>
  select<SyncRow>("select * from package_syncs where status = 'queued' order by package_id");

/**
 * Returns the queued packages. Checks that each has its own job id and that each courier has exactly one delivery
 * job.
 */
async function queued() {
  const syncs = await queuedSyncs();
  expect(new Set(syncs.map(({ job_id }) => job_id)).size).toBe(syncs.length);
  const couriers = [...new Set(syncs.map(({ courier_id }) => courier_id))].sort();
  const deliveryJobs = await waitingJobs(service().owner, 'deliver');
  deliveryJobs.sort((a, b) => (String(a['courierId']) < String(b['courierId']) ? -1 : 1));
  expect(deliveryJobs).toEqual(
    couriers.map((courierId) => ({ tenantId: TENANT, courierId, endpoint: 'update_package' })),
  );
  return syncs.map(({ package_id }) => package_id);
}

const figuresOf = ({ body }: Reply) => [body['data'].total_selected, body['data'].total_queued];

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

  test('selects packages without a courier but queues none of them', async () => {
    expect(
      figuresOf(await dispatch('admin', { package_ids: [...DEMO.packages.ownerUnknown] }).answer()),
    ).toEqual([3, 0]);
    expect(await queued()).toEqual([]);
  });
});

describe('dispatch by filter', () => {
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

describe('repeated dispatch', () => {
  test('keeps the queued row of a package that is already queued and adds no second one', async () => {
    const ids = [...DEMO.packages.available.IEX];
    await dispatch('admin', { package_ids: ids.slice(0, 2) }).ok();
    const before = await queuedSyncs();
    expect(figuresOf(await dispatch('admin', { package_ids: ids }).answer())).toEqual([
      ids.length,
      ids.length - 2,
    ]);
    expect(await queued()).toEqual([...ids].sort());
    // The rows are unchanged, the time of the request included.
    expect(await queuedSyncs()).toEqual(expect.arrayContaining(before));
  });

  const setStatus = (status: string) =>
    service().owner.query('update package_syncs set status = $1, settled_at = now()', [status]);

  test.each([
    ['sending', true],
    ['sent', true],
    ['failed', false],
  ])(
    'queues a package that is %s again under a new job id and wakes its delivery queue (changed since: %s)',
    async (status, isChanged) => {
      const [id] = DEMO.packages.available.IEX;
      await dispatch('admin', { package_ids: [id] }).ok();
      const before = await select<{ job_id: string }>('select job_id from package_syncs');
      await setStatus(status);
      if (isChanged)
        await service().owner.query('update packages set updated_at = now() where id = $1', [id]);
      await emptyQueue(service().owner);
      expect(figuresOf(await dispatch('admin', { package_ids: [id] }).answer())).toEqual([1, 1]);
      const [after] = await select<{ job_id: string; settled_at: Date | null }>(
        'select * from package_syncs',
      );
      expect(after).toMatchObject({ status: 'queued', settled_at: null });
      expect(after?.job_id).not.toBe(before[0]?.job_id);
      expect(await queued()).toEqual([id]);
    },
  );

  test.each(['sending', 'sent'])('queues no package that is %s and has not changed since', async (status) => {
    const ids = [...DEMO.packages.available.IEX];
    await dispatch('admin', { package_ids: ids }).ok();
    await setStatus(status);
    await emptyQueue(service().owner);
    const before = await select('select * from package_syncs order by package_id');
    expect(figuresOf(await dispatch('iex', { package_ids: ids }).answer())).toEqual([ids.length, 0]);
    expect(await select('select * from package_syncs order by package_id')).toEqual(before);
    expect(await queued()).toEqual([]);
  });

  const CALLERS = rounds(40, 100);

  test(`${CALLERS} callers with overlapping sets in different orders queue each package once, and none fails`, async () => {
    const ids = await idsWhere('courier_id is not null');
    const replies = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => {
        const set = [...ids.slice(index), ...ids.slice(0, index)].slice(0, 300);
        if (index % 2) set.reverse();
        return untilAdmitted(() => dispatch(index % 3 ? 'admin' : 'manager', { package_ids: set }).answer());
      }),
    );
    expect(replies.map(({ status }) => status)).toEqual(Array(CALLERS).fill(200));
    const sum = replies.reduce((total, reply) => total + Number(figuresOf(reply)[1]), 0);
    expect(await queued()).toHaveLength(sum);
    expect(sum).toBe(new Set(ids.slice(0, CALLERS + 299)).size);
  }, 60_000);
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

describe('large dispatches', () => {
  beforeAll(async () => {
    await insertWithoutTriggers(
      service().owner,
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, shipper, warehouse_id)
       select $1, gen_random_uuid(), $2, 'many' || n, 'many' || n, 'M' || n, 1, case when n <= 10000 then 'Ten' else 'Hundred' end, $3
       from generate_series(1, 100001) n`,
      [TENANT, IEX, DEMO.warehouses.primary],
    );
  }, 60_000);

  test('queues 10,000 packages in one request, by id and by filter', async () => {
    const ids = await idsWhere("shipper = 'Ten'");
    expect(figuresOf(await dispatch('admin', { package_ids: ids }).answer())).toEqual([10_000, 10_000]);
    expect(figuresOf(await dispatch('admin', { shipper: 'Ten' }).answer())).toEqual([10_000, 0]);
    expect(await queued()).toEqual(ids);
  }, 60_000);

  test('rejects more than 100,000 packages and queues nothing', async () => {
    const reply = await dispatch('admin', { courierID: IEX }).answer();
    expect(reply).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    expect(reply.message).toContain('100000');
    expect(await queued()).toEqual([]);
  }, 60_000);
});
