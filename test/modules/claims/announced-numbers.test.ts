import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { arrivalsOf } from '../../../src/modules/prealerts/public.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { insertClaim, makeParcels, newNumber, plantPrealerts } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const REASON = 'The invoice names the customer.';

describe('the announcements of a claimant', () => {
  const { api, service } = withService();
  const parcels = () => makeParcels(service());
  const plant = (courierId: string, count: number, options = {}) =>
    plantPrealerts(service().owner, { courierId, count, ...options });
  const claimantsOf = async (packageId: string) => {
    const { data } = await api.as('warehouse').listUnknownParcels({ limit: 100 }).ok();
    return data.find(({ package_id }) => package_id === packageId)?.claimants ?? [];
  };
  const figuresOf = async (packageId: string) =>
    (await claimantsOf(packageId)).map(({ announcements }) => announcements);

  // Each test has the 30 days for itself.
  beforeEach(() =>
    service().owner.query("update prealerts set created_at = created_at - interval '40 days'"),
  );

  test('count what a courier has submitted and what of it arrived, without the numbers of other couriers', async () => {
    for (let n = 0; n < 3; n += 1) {
      const number = newNumber();
      await parcels().announce('IEX', number);
      await parcels().receive(number);
    }
    await plant(HRB, 300);
    const number = newNumber();
    const packageId = await parcels().receive(number);
    await parcels().announce('IEX', number);
    await parcels().announce('HRB', number);
    expect(await figuresOf(packageId)).toEqual([
      { submitted: 4, arrived: 3 },
      { submitted: 301, arrived: 0 },
    ]);
  });

  test('are those of the last 30 days', async () => {
    await plant(IEX, 2, { status: 'received', daysAgo: 29 });
    await plant(IEX, 5, { status: 'received', daysAgo: 31 });
    const number = newNumber();
    const packageId = await parcels().receive(number);
    await parcels().announce('IEX', number);
    expect(await figuresOf(packageId)).toEqual([{ submitted: 3, arrived: 2 }]);
  });

  test('are the newest 10,000, and no more are read', async () => {
    await plant(HRB, 9_998);
    await plant(HRB, 1, { status: 'received', daysAgo: 1 });
    await plant(HRB, 2_000, { status: 'received', daysAgo: 2 });
    await service().owner.query('vacuum analyze prealerts');
    const number = newNumber();
    const packageId = await parcels().receive(number);
    await parcels().announce('HRB', number);
    expect(await figuresOf(packageId)).toEqual([{ submitted: 10_000, arrived: 1 }]);
    const nodes = nodesOf(await planFor(HRB));
    const reads = nodes.filter((node) => node['Relation Name'] === 'prealerts');
    const read = reads.map((node) => node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0));
    expect(read.sort()).toEqual([1, 10_000, 10_000]);
  });

  test('are absent for a claim, and each claimant says whether the parcel was there before it', async () => {
    const [late, early] = [newNumber(), newNumber()];
    for (const courier of ['IEX', 'HRB'] as const) await parcels().announce(courier, early);
    const [first, second] = [await parcels().receive(late), await parcels().receive(early)];
    await insertClaim(service().owner, { courierId: HRB, trackingNumber: late });
    await parcels().announce('IEX', late);
    expect(await claimantsOf(first)).toMatchObject([
      { after_receipt: true, announcements: null },
      { after_receipt: true, announcements: { submitted: 2, arrived: 0 } },
    ]);
    expect((await claimantsOf(second)).map(({ after_receipt }) => after_receipt)).toEqual([false, false]);
  });

  test('are in the audit entry of a decision for a pre-alert, as they were before it', async () => {
    await plant(HRB, 300);
    const number = newNumber();
    const packageId = await parcels().receive(number);
    const prealert_id = await parcels().announce('HRB', number);
    const rival = await parcels().announce('IEX', number);
    await api.as('warehouse').reviewParcelClaim({ action: 'resolve', prealert_id, reason: REASON }).ok();
    const afterOf = async (id: string) =>
      (await parcels().auditOf(id)).flatMap(({ action, after }) =>
        action === 'prealert.reviewed' ? [after] : [],
      );
    expect(await afterOf(prealert_id)).toEqual([
      {
        status: 'received',
        package_id: packageId,
        after_receipt: true,
        announcements: { submitted: 301, arrived: 0 },
      },
    ]);
    expect(await afterOf(rival)).toEqual([{ status: 'pending', closed: true }]);
  });

  type Node = {
    'Node Type': string;
    'Actual Rows': number;
    'Relation Name'?: string;
    'Rows Removed by Filter'?: number;
    Plans?: Node[];
  };
  const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

  async function planFor(courierId: string): Promise<Node> {
    const caller = {
      kind: 'user',
      tenantId: DEMO.tenants.demo,
      userId: DEMO.users.warehouse,
      role: 'warehouse',
      courierId: null,
      tokenVersion: 1,
      expiresAt: Math.floor(Date.now() / 1000) + 3_600,
    } as const;
    const ctx = makeContext(service().db, caller, 'a-request');
    // So few rows would be read as a whole and sorted.
    const [row] = await ctx.read(async (tx) => {
      for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'])
        await tx.query(sql`select set_config(${setting}, 'off', true)`);
      return tx.query(
        sql<{
          'QUERY PLAN': [{ Plan: Node }];
        }>`explain (analyze, format json) ${arrivalsOf(ctx, [courierId])}`,
      );
    });
    if (!row) throw new Error('EXPLAIN returned no row.');
    return row['QUERY PLAN'][0].Plan;
  }
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('the announcements of a claimant, with %s,', (_name, options) => {
  const { api, service } = withService(options);

  test('have no row of another tenant', async () => {
    const { owner } = service();
    await owner.query("update prealerts set created_at = created_at - interval '40 days'");
    // The triggers would refuse a row with the courier of another tenant.
    await plantPrealerts(owner, { courierId: IEX, count: 7, tenantId: DEMO.tenants.two });
    const number = newNumber();
    const packageId = await makeParcels(service()).receive(number);
    await makeParcels(service()).announce('IEX', number);
    const { data } = await api.as('warehouse').listUnknownParcels({ limit: 100 }).ok();
    const found = data.find(({ package_id }) => package_id === packageId);
    expect(found?.claimants).toMatchObject([{ announcements: { submitted: 1, arrived: 0 } }]);
  });
});
