import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import {
  makeReconciliation,
  type Query,
  MAY,
  type Exception,
  PUBLISHED,
  NO_REASONS,
} from './reconciled-rows.js';

const fixture = withService();
const { api, service } = fixture;
const { newCourier, reconcile, receive, bill, change } = makeReconciliation(fixture);

describe('billing reconciliation per package', () => {
  let courierId: string;
  beforeEach(async () => {
    courierId = await newCourier();
  });

  const reconcileMay = async (query: Query = {}) =>
    (await reconcile({ courier_id: courierId, ...MAY, ...query }).ok()).data;
  const reasonsOf = async (packageId: string) =>
    ((await reconcileMay()).exceptions as Exception[]).find((each) => each.package_id === packageId)?.reasons;

  test("gives no reason for a correctly billed package and counts it under its bill's status", async () => {
    const [published, draft] = [await receive(courierId, '3'), await receive(courierId, '10.001')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: published, amount: '5.00' }] });
    await bill(courierId, { lines: [{ packageId: draft, amount: '12.50' }] });
    const { summary, couriers, exceptions } = await reconcileMay();
    expect(exceptions).toEqual([]);
    expect(summary).toEqual({
      packages_received: 2,
      weight: 13.001,
      exceptions: 0,
      reasons: NO_REASONS,
      published: { packages: 1, weight: 3, fees: 5 },
      drafts: { packages: 1, weight: 10.001, fees: 12.5 },
      unbilled: { packages: 0, weight: 0, fees: 0 },
    });
    expect(couriers).toMatchObject([{ courier_id: courierId, ...summary }]);
  });

  test('reports a package without a bill as not_billed, with its fee under the current rates', async () => {
    const packageId = await receive(courierId, '10');
    const { summary, exceptions } = await reconcileMay();
    expect(exceptions).toEqual([
      {
        package_id: packageId,
        reasons: ['not_billed'],
        weight: 10,
        fee: 5,
        courier_id: courierId,
        tracking_number: expect.any(String),
        house_number: expect.any(String),
        courier_name: expect.any(String),
        received_at: '2024-05-15 12:00:00',
        bill_id: null,
        invoice_number: null,
        bill_status: null,
        billed_courier_id: null,
        billed_weight: null,
        billed_fee: null,
      },
    ]);
    expect(summary.unbilled).toEqual({ packages: 1, weight: 10, fees: 5 });
    expect([summary.exceptions, summary.reasons]).toEqual([1, { ...NO_REASONS, not_billed: 1 }]);
  });

  test('reports a package as left_out if a bill covers its courier and day, including the first and last day', async () => {
    await bill(courierId, { start: '2024-05-10', end: '2024-05-15', ...PUBLISHED, amount: '1.00' });
    await bill(courierId, { start: '2024-05-20', end: '2024-05-21' });
    const at = (moment: string) => receive(courierId, '1', moment);
    const before = await at('2024-05-09T23:59:59.999Z');
    const [first, last] = [await at('2024-05-10T00:00:00Z'), await at('2024-05-15T23:59:59.999Z')];
    const [between, ofDraft] = [await at('2024-05-16T00:00:00Z'), await at('2024-05-20T12:00:00Z')];
    for (const id of [first, last, ofDraft]) expect(await reasonsOf(id)).toEqual(['left_out']);
    for (const id of [before, between]) expect(await reasonsOf(id)).toEqual(['not_billed']);
  });

  test('reports a package as not_billed if only a bill of another courier covers its day', async () => {
    await bill(await newCourier(), PUBLISHED);
    expect(await reasonsOf(await receive(courierId, '1'))).toEqual(['not_billed']);
  });

  test('reports a package outside all tiers as no_tier, billed or not', async () => {
    const [billed, unbilled] = [await receive(courierId, '50.001'), await receive(courierId, '60')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: billed, amount: '0', tier: null }] });
    expect(await reasonsOf(billed)).toEqual(['no_tier']);
    expect(await reasonsOf(unbilled)).toEqual(['left_out', 'no_tier']);
    expect((await reconcileMay()).exceptions).toMatchObject([{ fee: 0 }, { fee: 0 }]);
  });

  describe('with a weight changed after intake', () => {
    const weigh = async (packageId: string, weight: number, as = 'warehouse') =>
      expect((await api.as(as).updatePackage({ package_id: packageId, weight }).ok()).data).toMatchObject({
        fields_updated: 1,
      });

    test('reports weight_changed before billing, with the intake weight and the user who changed it last', async () => {
      const packageId = await receive(courierId, '42.27');
      await weigh(packageId, 9);
      await weigh(packageId, 0.001, 'manager');
      const { exceptions, summary } = await reconcileMay();
      const [row] = (
        await service().owner.query(
          "select full_name from users where username = 'manager' and tenant_id = $1",
          [DEMO.tenants.demo],
        )
      ).rows;
      expect(exceptions).toMatchObject([
        {
          reasons: ['not_billed', 'weight_changed'],
          weight: 0.001,
          billed_weight: null,
          weight_change: {
            before: 42.27,
            after: 0.001,
            changed_by: row.full_name,
            changed_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/),
          },
        },
      ]);
      expect(summary.reasons.weight_changed).toBe(1);
    });

    test('reports weight_changed if the bill has the changed weight and if the weight was changed back', async () => {
      const [billed, restored] = [await receive(courierId, '42.27'), await receive(courierId, '5')];
      await weigh(billed, 1);
      await bill(courierId, { ...PUBLISHED, lines: [{ packageId: billed, amount: '5.00' }] });
      await weigh(restored, 4);
      await weigh(restored, 5);
      expect(await reasonsOf(billed)).toEqual(['weight_changed']);
      expect(await reasonsOf(restored)).toEqual(['left_out', 'weight_changed']);
      const { exceptions } = await reconcileMay();
      const changeOf = (id: string) =>
        exceptions.find((each: Exception) => each.package_id === id)?.['weight_change'];
      expect(changeOf(restored)).toMatchObject({ before: 5, after: 5 });
      expect(changeOf(billed)).toMatchObject({ before: 42.27, after: 1 });
    });

    test('stores the intake weight append-only in the database', async () => {
      const packageId = await receive(courierId, '7');
      await weigh(packageId, 6);
      const rewrite = service().owner.query(
        'update package_weights set received_weight_lb = 1 where package_id = $1',
        [packageId],
      );
      await expect(rewrite).rejects.toThrow(/append-only/);
    });
  });

  test('reports both weights and both fees if the weight changed after billing', async () => {
    const packageId = await receive(courierId, '9.999');
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    await change('packages', packageId, 'weight_lb = 10.001');
    const { exceptions, summary } = await reconcileMay();
    expect(exceptions).toMatchObject([
      { reasons: ['weight_changed'], weight: 10.001, billed_weight: 9.999, fee: 12.5, billed_fee: 5 },
    ]);
    // The published bill is unchanged.
    expect(summary.published).toEqual({ packages: 1, weight: 10.001, fees: 5 });
  });

  test('shows a billed package that moved to another courier to both couriers', async () => {
    const other = await newCourier();
    const packageId = await receive(courierId, '1');
    const { id } = await bill(courierId, { ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    await change('packages', packageId, `courier_id = '${other}'`);
    for (const courier_id of [courierId, other]) {
      const data = await reconcileMay({ courier_id });
      expect(data.exceptions).toMatchObject([
        { reasons: ['courier_changed'], courier_id: other, billed_courier_id: courierId, bill_id: id },
      ]);
      expect(data.checks[0]).toMatchObject({ check: 'packages', expected: 1, found: 1, ties: true });
    }
    await change('packages', packageId, 'courier_id = null');
    expect((await reconcileMay()).exceptions).toMatchObject([
      { reasons: ['courier_changed'], courier_id: null },
    ]);
  });

  test('reports fee_changed for drafts but not for published bills if the rates have changed', async () => {
    const [published, draft] = [await receive(courierId, '1'), await receive(courierId, '1')];
    await bill(courierId, { ...PUBLISHED, lines: [{ packageId: published, amount: '5.00' }] });
    await bill(courierId, { lines: [{ packageId: draft, amount: '5.00' }] });
    await service().owner.query(
      'update rate_tiers set fee_usd = 5.01 where courier_id = $1 and fee_usd = 5',
      [courierId],
    );
    expect((await reconcileMay()).exceptions).toMatchObject([
      { package_id: draft, reasons: ['fee_changed'], fee: 5.01, billed_fee: 5, bill_status: 'draft' },
    ]);
  });

  test('reports outside_period for a package on a bill of another period', async () => {
    const packageId = await receive(courierId, '1');
    const april = { start: '2024-04-01', end: '2024-04-30' };
    await bill(courierId, { ...april, ...PUBLISHED, lines: [{ packageId, amount: '5.00' }] });
    expect(await reasonsOf(packageId)).toEqual(['outside_period']);
  });

  test('reports a package without a courier as owner_unknown, without a fee', async () => {
    const packageId = await receive(null, '4', '2024-03-15T12:00:00Z');
    const { data } = await reconcile({ from: '2024-03-15', to: '2024-03-15' }).ok();
    expect(data.exceptions).toMatchObject([
      { package_id: packageId, reasons: ['owner_unknown'], courier_id: null, courier_name: null, fee: null },
    ]);
    expect(data.couriers).toMatchObject([
      { courier_id: null, courier_code: null, unbilled: { packages: 1, weight: 4, fees: 0 } },
    ]);
  });

  test('selects packages by their UTC day of receipt, both ends inclusive', async () => {
    const moments = [
      '2024-02-28T23:59:59.999Z',
      '2024-02-29T00:00:00Z',
      '2024-02-29T23:59:59.999Z',
      '2024-03-01T00:00:00Z',
    ];
    const ids: string[] = [];
    for (const moment of moments) ids.push(await receive(courierId, '1', moment));
    const { exceptions, summary, checks } = await reconcileMay({ from: '2024-02-29', to: '2024-02-29' });
    expect(summary.packages_received).toBe(2);
    expect(checks[0]).toMatchObject({ expected: 2, found: 2 });
    expect((exceptions as Exception[]).map((each) => ids.indexOf(each.package_id))).toEqual([2, 1]);
  });
});
