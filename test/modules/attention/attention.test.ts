import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertBill } from '../../support/builders/bills.js';
import { newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { makePackageList } from '../packages/list/listed-packages.js';

const { IEX, HRB } = DEMO.couriers;
const KINDS = [
  'unknown_packages',
  'open_claims',
  'flagged_prealerts',
  'packages_on_hold',
  'old_packages',
  'failing_webhooks',
  'draft_bills',
  'unpaid_bills',
  'overdue_bills',
  'missing_prealerts',
];
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getAttention with %s', (_name, options) => {
  const fixture = withService(options);
  const { api, db, service } = fixture;
  const { addPackages } = makePackageList(fixture);

  const countsOf = async (as: string) =>
    Object.fromEntries(
      (await api.as(as).getAttention().ok()).data.items.map((item) => [item.kind, item.count]),
    );

  /** Returns by how much each user's counts have grown when `plant` has ended. */
  async function growth(plant: () => Promise<unknown>) {
    const users = ['admin', 'warehouse', 'iex', 'two/admin'];
    const before = await Promise.all(users.map(countsOf));
    await plant();
    const after = await Promise.all(users.map(countsOf));
    const grown = after.map((counts, at) =>
      Object.fromEntries(
        Object.entries(counts).flatMap(([kind, count]) => {
          const more = count - (before[at]?.[kind] ?? 0);
          return more === 0 ? [] : [[kind, more]];
        }),
      ),
    );
    return Object.fromEntries(users.map((user, at) => [user, grown[at]]));
  }

  test('names the kinds whose records the role may read, also those without any', async () => {
    expect(Object.keys(await countsOf('admin'))).toEqual(KINDS);
    expect(Object.keys(await countsOf('manager'))).toEqual(KINDS);
    expect(Object.keys(await countsOf('warehouse'))).toEqual([...KINDS.slice(0, 5), 'missing_prealerts']);
    expect(Object.keys(await countsOf('iex'))).toEqual(KINDS.filter((kind) => kind !== 'draft_bills'));
    expect(Object.values(await countsOf('two/admin'))).toContain(0);
  });

  test('counts packages without a customer, packages on hold, and old ones that have not left', async () => {
    const now = { received_at: daysAgo(0), user_code: 'IEX-1001', courier_id: IEX };
    const grown = await growth(() =>
      addPackages([
        { ...now, user_code: null },
        { ...now, user_code: null, courier_id: null },
        { ...now, user_code: null, courier_id: null, status: 'delivered' },
        { ...now, status: 'on_hold' },
        { ...now, status: 'customs_hold', courier_id: HRB, user_code: 'HRB-2001' },
        { ...now, received_at: daysAgo(29.9) },
        { ...now, received_at: daysAgo(30.1) },
        { ...now, received_at: daysAgo(31), courier_id: HRB, user_code: 'HRB-2001' },
        { ...now, received_at: daysAgo(31), status: 'shipped' },
      ]),
    );
    const all = { unknown_packages: 3, packages_on_hold: 2, old_packages: 2 };
    const own = { unknown_packages: 1, packages_on_hold: 1, old_packages: 1 };
    expect(grown).toEqual({ admin: all, warehouse: all, iex: own, 'two/admin': {} });
  });

  test('counts open claims and flagged pre-alerts', async () => {
    const grown = await growth(async () => {
      for (const courier of ['iex', 'hrb']) {
        const user_code = courier === 'iex' ? 'IEX-1001' : 'HRB-2001';
        await api.as(courier).claimParcel({ user_code, tracking_number: newNumber() }).created();
        const sent = { tracking_number: newNumber(), user_code, vendor: 'Shop' };
        const { data } = await api.as(courier).createPrealert(sent).created();
        await db.query("update prealerts set status = 'flagged' where id = $1", [data.prealert_id]);
      }
      const [refused] = await db.query<{ id: string }>(
        "select id from parcel_claims where courier_id = $1 and status = 'open' limit 1",
        [HRB],
      );
      const claim_id = refused?.id ?? '';
      await api.as('admin').reviewParcelClaim({ action: 'refuse', claim_id, reason: 'R' }).ok();
    });
    const all = { open_claims: 1, flagged_prealerts: 2 };
    expect(grown).toEqual({
      admin: all,
      warehouse: all,
      iex: { open_claims: 1, flagged_prealerts: 1 },
      'two/admin': {},
    });
  });

  test('counts URLs that fail or are paused, drafts for managers, and bills that are not paid in full', async () => {
    const tenantId = DEMO.tenants.demo;
    const health = (courierId: string, endpoint: string, column: string) =>
      db.query(
        `insert into webhook_endpoints (tenant_id, courier_id, endpoint, ${column}) values ($1, $2, $3, now())
         on conflict (tenant_id, courier_id, endpoint) do update set ${column} = now()`,
        [tenantId, courierId, endpoint],
      );
    await db.query('delete from webhook_endpoints');
    const grown = await growth(async () => {
      await health(IEX, 'add_package', 'failing_since');
      await health(IEX, 'update_package', 'last_success_at');
      await health(HRB, 'add_package', 'paused_at');
      for (const courierId of [IEX, HRB]) {
        const bill = { tenantId, courierId, start: '2014-05-01', end: '2014-05-31', amount: '5.00' };
        await insertBill(service().owner, bill);
        const publishedAt = '2014-06-01T10:00:00Z';
        const part = [{ amount: '2.00', receivedOn: '2014-06-02' }];
        await insertBill(service().owner, {
          ...bill,
          start: '2014-04-01',
          end: '2014-04-30',
          publishedAt,
          payments: part,
        });
        // Its due date has not passed.
        const notDue = { start: '2014-03-01', end: '2014-03-31', publishedAt: new Date().toISOString() };
        await insertBill(service().owner, { ...bill, ...notDue });
      }
    });
    expect(grown).toEqual({
      admin: { failing_webhooks: 2, draft_bills: 2, unpaid_bills: 4, overdue_bills: 2 },
      warehouse: {},
      iex: { failing_webhooks: 1, unpaid_bills: 2, overdue_bills: 1 },
      'two/admin': {},
    });
  });
});
