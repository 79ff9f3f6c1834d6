import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';
import { makePreviews } from '../invoices/previewed-packages.js';
import { fieldsOf, makeRateCalls, tier, UNKNOWN_ID } from './rate-calls.js';

const { IEX, TWO } = DEMO.couriers;
const MONTH = '2024-05';
const MAY = { start_date: '2024-05-01', end_date: '2024-05-31' };
// Each weight of a bound, and the thousandths beside it.
const WEIGHTS = [
  '0.001',
  '0.999',
  '1',
  '1.001',
  '4.3',
  '9.999',
  '10',
  '10.001',
  '12.5',
  '49.999',
  '50',
  '60',
];

const fixture = withService();
const { api } = fixture;
const { newCourier, save, expectNothingWritten } = makeRateCalls(fixture);
const { addPackages } = makePreviews(fixture);

const preview = (body: object, as = 'manager') =>
  api.as(as).previewRates(unchecked({ month: MONTH, ...body }));
const feesOf = async (courier_id: string) =>
  (
    await api
      .as('manager')
      .previewCourierInvoice({ courier_id, ...MAY })
      .ok()
  ).data.summary;

describe('previewRates', () => {
  test('prices each tier of both tables with the same packages, and lists what no proposed tier covers', async () => {
    const courier_id = await newCourier([tier(0, 1, 4.5), tier(1, 10, 12)]);
    await addPackages(courier_id, [{ weight: '0.5' }, { weight: '1' }, { weight: '1.5' }, { weight: '20' }]);
    await addPackages(courier_id, [
      { weight: '7', receivedAt: '2024-04-30T23:59:59.999Z' },
      { weight: '7', receivedAt: '2024-06-01T00:00:00Z' },
    ]);
    const rates = [tier(2, 30, 20.05), tier(0.5, 1, 4.1), tier(40, 50, 1)];
    const { message, data } = await preview({ courier_id, rates }).ok();
    expect(message).toBe('Preview of 4 packages.');
    expect(data).toEqual({
      courier_id,
      month: MONTH,
      packages: 4,
      weight: 23,
      current_amount: 21,
      proposed_amount: 28.25,
      difference: 7.25,
      proposed: [
        { ...tier(0.5, 1, 4.1), packages: 2, weight: 1.5, current_amount: 9, proposed_amount: 8.2 },
        { ...tier(2, 30, 20.05), packages: 1, weight: 20, current_amount: 0, proposed_amount: 20.05 },
        { ...tier(40, 50, 1), packages: 0, weight: 0, current_amount: 0, proposed_amount: 0 },
      ],
      current: [
        { ...tier(0, 1, 4.5), packages: 2, weight: 1.5, current_amount: 9, proposed_amount: 8.2 },
        { ...tier(1, 10, 12), packages: 1, weight: 1.5, current_amount: 12, proposed_amount: 0 },
      ],
      gaps: [
        { above: 0, below: 0.5, packages: 0, weight: 0, current_amount: 0 },
        { above: 1, below: 2, packages: 1, weight: 1.5, current_amount: 12 },
        { above: 30, below: 40, packages: 0, weight: 0, current_amount: 0 },
      ],
    });
    expect((await preview({ courier_id, rates, month: '2024-06' }).ok()).data.packages).toBe(1);
  });

  test('agrees to the cent with the invoice before and after the proposed table is saved', async () => {
    const courier_id = await newCourier([tier(0, 1, 0.1), tier(1, 10, 0.2), tier(10, 50, 0.7)]);
    await addPackages(
      courier_id,
      WEIGHTS.flatMap((weight) => Array.from({ length: 7 }, () => ({ weight }))),
    );
    for (const rates of [
      [tier(0, 1, 0.15), tier(1, 10, 0.35), tier(10, 100, 0.55)],
      [tier(1, 12.5, 19.99)],
      [tier(0, 9.999, 1.01), tier(10, 10, 99999999.99)],
    ]) {
      const { data } = await preview({ courier_id, rates }).ok();
      const before = await feesOf(courier_id);
      expect([data.packages, data.weight, data.current_amount]).toEqual([
        before.total_packages,
        before.total_weight,
        before.total_fees,
      ]);
      await save(courier_id, rates).ok();
      const after = await feesOf(courier_id);
      expect(data.proposed_amount).toBe(after.total_fees);
      expect(data.difference).toBe(Math.round((after.total_fees - before.total_fees) * 100) / 100);
    }
  });

  test('an empty table of a courier means the default tiers, and weights above the last tier are named if a package has one', async () => {
    const courier_id = await newCourier([tier(0, 100, 1)]);
    await addPackages(courier_id, [{ weight: '5' }, { weight: '60' }]);
    const { data } = await preview({ courier_id, rates: [] }).ok();
    expect(data.proposed.map(({ startweight, endweight, fee }) => [startweight, endweight, fee])).toEqual([
      [0, 5, 8],
      [5, 15, 15],
      [15, 50, 40],
    ]);
    expect([data.current_amount, data.proposed_amount, data.difference]).toEqual([2, 8, 6]);
    expect(data.gaps).toEqual([{ above: 50, below: null, packages: 1, weight: 60, current_amount: 1 }]);
  });

  test('default tiers are priced for the couriers without tiers of their own', async () => {
    const other = withDefaults();
    await addPackages(await newCourier([tier(0, 100, 1)]), [{ weight: '3' }]);
    await addPackages(await newCourier(), [{ weight: '3' }, { weight: '6' }]);
    const before = (await preview(other).ok()).data;
    await addPackages(await newCourier([tier(0, 100, 1)]), [{ weight: '3' }]);
    await addPackages(await newCourier(), [{ weight: '3' }]);
    const { data } = await preview({ ...other, courier_id: null }).ok();
    expect(data.courier_id).toBeNull();
    expect(data.packages - before.packages).toBe(1);
    expect([
      data.current_amount - before.current_amount,
      data.proposed_amount - before.proposed_amount,
    ]).toEqual([8, 2]);
    const { data: none } = await preview({ rates: [] }).ok();
    expect(none.proposed).toEqual([]);
    expect(none.gaps).toMatchObject([{ above: null, below: null, packages: none.packages }]);
  });

  test('stores nothing', async () => {
    await expectNothingWritten(async () => {
      await preview({ courier_id: IEX, rates: [tier(0, 1, 2)] }).ok();
      await preview(withDefaults()).ok();
    });
  });

  test('refuses what save_rates refuses, an invalid month, an unknown courier, and who may not change rates', async () => {
    const refused = async (body: object) => fieldsOf(await preview(body).refused(400, 'validation_failed'));
    expect(await refused({ rates: [tier(0, 10, 1), tier(5, 20, 2)] })).toEqual(['rates[1].startweight']);
    expect(await refused({ rates: [tier(2, 1, 1)] })).toEqual(['rates[0].endweight']);
    expect(await refused({ rates: [], month: '2024-13' })).toEqual(['month']);
    const rates = [tier(0, 1, 2)];
    for (const courier_id of [UNKNOWN_ID, TWO])
      await preview({ courier_id, rates }).refused(404, 'courier_not_found');
    for (const user of ['warehouse', 'iex'])
      await preview({ courier_id: IEX, rates }, user).refused(403, 'permission_denied');
    await api.anonymous.previewRates({ month: MONTH, rates }).refused(401, 'token_missing');
  });
});

const withDefaults = () => ({ rates: [tier(0, 100, 2)] });

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('previewRates with %s', (_name, options) => {
  const guarded = withService(options);
  const there = makePreviews(guarded);

  test('prices for a tenant no package and no tier of another one', async () => {
    const read = async () =>
      (
        await guarded.api
          .as('two/admin')
          .previewRates({ month: MONTH, ...withDefaults() })
          .ok()
      ).data;
    const before = await read();
    await there.addPackages(await there.newCourier(), [{ weight: '3' }]);
    const own = await there.newCourier();
    await there.addTiers(own, [{ start: '0', end: '9', fee: '1' }]);
    await there.addPackages(own, [{ weight: '3' }]);
    expect(await read()).toEqual(before);
  });
});
