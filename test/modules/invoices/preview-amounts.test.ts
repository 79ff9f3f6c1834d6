import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { moveDatabaseTo } from '../../support/harness/database-zone.js';
import { withService } from '../../support/fixture/with-service.js';
import { makePreviews, IEX_TIERS, MONTH, ALL_DEMO, ZONES } from './previewed-packages.js';

const { IEX, TWO } = DEMO.couriers;

const fixture = withService();
const { service } = fixture;
const { newCourier, addTiers, newManifest, addPackages, preview } = makePreviews(fixture);

describe('amounts', () => {
  test("match the contract's example, with air freight rounded half up", async () => {
    const courierId = await newCourier('1.75');
    await addTiers(courierId, IEX_TIERS);
    const aboard = await newManifest('001-12345675');
    const parcels = [
      { weight: '0.8', receivedAt: '2024-05-02T00:00:00Z' },
      { weight: '4.25', receivedAt: '2024-05-03T00:00:00Z', manifest: aboard },
      { weight: '112', receivedAt: '2024-05-04T00:00:00Z' },
    ];
    const ids = await addPackages(courierId, parcels);
    const { message, data } = await preview('admin', { courier_id: courierId, ...MONTH }).ok();
    expect(message).toBe('Preview of 3 packages.');
    expect(data.summary).toEqual({
      total_packages: 3,
      total_weight: 117.05,
      total_fees: 16.5,
      air_freight_rate: 1.75,
      air_freight_weight: 4.25,
      total_air_freight: 7.44,
      grand_total: 23.94,
    });
    expect(data.breakdown).toEqual([
      { range: '0-1 lb', count: 1, rate: 4.5, subtotal: 4.5 },
      { range: '1-10 lb', count: 1, rate: 12, subtotal: 12 },
    ]);
    expect(data.packages.map((each: object) => Object.values(each))).toEqual([
      [ids[0], expect.any(String), 0.8, 4.5],
      [ids[1], expect.any(String), 4.25, 12],
      [ids[2], expect.any(String), 112, 0],
    ]);
    expect(data.warnings).toEqual(['No tier covers weights above 100 lb; 1 package has no fee.']);
  });

  test('use the lower tier at a shared bound, and bounds are inclusive', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, IEX_TIERS);
    await addPackages(
      courierId,
      ['0.001', '1', '1.001', '10', '10.001', '100', '100.001'].map((weight) => ({ weight })),
    );
    const { packages, breakdown } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    const feeOf = (weight: number) => packages.find((each) => each.weight === weight)?.applied_fee;
    expect([0.001, 1, 1.001, 10, 10.001, 100, 100.001].map(feeOf)).toEqual([4.5, 4.5, 12, 12, 35, 35, 0]);
    expect(breakdown.map(({ count }) => count)).toEqual([2, 2, 2]);
  });

  test('charge air freight for packages on manifests with an AWB number only, and round the sum once', async () => {
    const courierId = await newCourier('0.35');
    const [awb, none, blank] = [await newManifest('001-1'), await newManifest(null), await newManifest('')];
    // 0.35 times 0.030 lb is 0.0105 in total, and 0.0035 for each.
    await addPackages(
      courierId,
      Array.from({ length: 3 }, () => ({ weight: '0.01', manifest: awb })),
    );
    await addPackages(
      courierId,
      [none, blank, null].map((manifest) => ({ weight: '7', manifest })),
    );
    const { summary } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    expect(summary).toMatchObject({ air_freight_weight: 0.03, total_air_freight: 0.01, total_packages: 6 });
    expect(summary.grand_total).toBe(Number((summary.total_fees + 0.01).toFixed(2)));
  });

  test.each([
    ['0.50', '0.01', 0.01],
    ['0.50', '0.009', 0],
    ['1.00', '1.005', 1.01],
    ['1.00', '2.675', 2.68],
  ])('rounds a rate of %s on %s lb half up to %d', async (rate, weight, total) => {
    const courierId = await newCourier(rate);
    await addPackages(courierId, [{ weight, manifest: await newManifest('1') }]);
    const { summary } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    expect(summary.total_air_freight).toBe(total);
  });
});

describe('tiers', () => {
  test("are the tenant's default ones if the courier has none", async () => {
    const courierId = await newCourier();
    await addPackages(courierId, [{ weight: '5' }, { weight: '15' }, { weight: '50' }, { weight: '50.001' }]);
    const { breakdown, summary } = (await preview('manager', { courier_id: courierId, ...MONTH }).ok()).data;
    expect(breakdown.map(({ range, rate }: { range: string; rate: number }) => [range, rate])).toEqual([
      ['0-5 lb', 8],
      ['5-15 lb', 15],
      ['15-50 lb', 40],
    ]);
    expect(summary.total_fees).toBe(63);
  });

  test("are the courier's own as soon as it has one, with plain decimals as labels", async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [{ start: '0.500', end: '2.250', fee: '3.10' }]);
    await addPackages(courierId, [{ weight: '1' }, { weight: '3' }, { weight: '0.499' }]);
    const { breakdown, warnings } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    expect(breakdown).toEqual([{ range: '0.5-2.25 lb', count: 1, rate: 3.1, subtotal: 3.1 }]);
    expect(warnings).toEqual([
      'No tier covers weights below 0.5 lb; 1 package has no fee.',
      'No tier covers weights above 2.25 lb; 1 package has no fee.',
    ]);
  });

  test('with gaps are reported, whether or not a package falls into one', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [
      { start: '0', end: '5', fee: '1' },
      { start: '5.01', end: '10', fee: '2' },
      { start: '20', end: '30.5', fee: '3' },
      { start: '30.501', end: '40', fee: '4' },
    ]);
    await addPackages(
      courierId,
      ['12', '19.999', '5'].map((weight) => ({ weight })),
    );
    const { warnings } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    // 30.5 and 30.501 are adjacent: no weight lies between them.
    expect(warnings).toEqual([
      'No tier covers weights between 5 and 5.01 lb.',
      'No tier covers weights between 10 and 20 lb; 2 packages have no fee.',
    ]);
  });

  test('of a single weight take precedence over a tier that begins there', async () => {
    const courierId = await newCourier();
    await addTiers(courierId, [
      { start: '5', end: '9', fee: '2' },
      { start: '5', end: '5', fee: '1' },
      { start: '0', end: '4.999', fee: '3' },
    ]);
    await addPackages(courierId, [{ weight: '5' }]);
    const { packages, warnings } = (await preview('admin', { courier_id: courierId, ...MONTH }).ok()).data;
    expect(packages[0]?.applied_fee).toBe(1);
    expect(warnings).toEqual([]);
  });

  test('if missing leave all packages without a fee and add a warning', async () => {
    await service().owner.query('delete from rate_tiers where tenant_id = $1', [DEMO.tenants.two]);
    const { summary, breakdown, warnings } = (
      await preview('two/admin', { courier_id: TWO, ...ALL_DEMO }).ok()
    ).data;
    expect([summary.total_packages, summary.total_fees, breakdown]).toEqual([8, 0, []]);
    expect(warnings).toEqual(['There is no rate table; 8 packages have no fee.']);
  });
});

describe('billing period', () => {
  test.each(ZONES)(
    "is whole UTC days, both ends inclusive, while the database's time zone is %s",
    async (zone) => {
      await moveDatabaseTo(zone, service());
      const courierId = await newCourier();
      const moments = [
        '2024-02-28T23:59:59.999Z',
        '2024-02-29T00:00:00Z',
        '2024-02-29T23:59:59.999Z',
        '2024-03-01T00:00:00Z',
      ];
      const ids = await addPackages(
        courierId,
        moments.map((receivedAt) => ({ weight: '1', receivedAt })),
      );
      const billed = async (start_date: string, end_date: string) => {
        const { packages } = (await preview('admin', { courier_id: courierId, start_date, end_date }).ok())
          .data;
        return packages.map(({ package_id }) => ids.indexOf(package_id));
      };
      expect(await billed('2024-02-29', '2024-02-29')).toEqual([1, 2]);
      expect(await billed('2024-02-28', '2024-02-29')).toEqual([0, 1, 2]);
      expect(await billed('2024-02-29', '2024-03-01')).toEqual([1, 2, 3]);
      expect(await billed('0001-01-01', '9999-12-31')).toEqual([0, 1, 2, 3]);
    },
  );

  test('without packages has zero totals', async () => {
    const { message, data } = await preview('admin', {
      courier_id: IEX,
      start_date: '2001-01-01',
      end_date: '2001-01-31',
    }).ok();
    expect(message).toBe('Preview of 0 packages.');
    expect(data).toMatchObject({ breakdown: [], packages: [], warnings: [] });
    expect(data.summary).toEqual({
      total_packages: 0,
      total_weight: 0,
      total_fees: 0,
      air_freight_rate: 1.75,
      air_freight_weight: 0,
      total_air_freight: 0,
      grand_total: 0,
    });
  });

  test('that ends before it starts is rejected with 400 naming end_date', async () => {
    const body = { courier_id: IEX, start_date: '2024-05-02', end_date: '2024-05-01' };
    const { errors } = await preview('admin', body).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'end_date' }]);
  });

  test.each([
    ['courier_id', undefined],
    ['courier_id', 'IEX'],
    ['courier_id', null],
    ['start_date', undefined],
    ['start_date', '2026-02-30'],
    ['start_date', '01/05/2024'],
    ['end_date', undefined],
    ['end_date', '2023-02-29'],
    ['end_date', 20240531],
  ])('rejects %s %j with 400 and names the field', async (field, value) => {
    const body = { courier_id: IEX, ...MONTH, [field]: value };
    const { errors } = await preview('admin', body).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field }]);
  });
});
