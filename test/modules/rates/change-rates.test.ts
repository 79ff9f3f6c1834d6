import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { makeRateCalls, tier, values, GLOBAL, ids, fieldsOf, UNKNOWN_ID } from './rate-calls.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo: DEMO_TENANT, two: TENANT_TWO } = DEMO.tenants;

const fixture = withService();
const { api, db } = fixture;
const { newCourier, stored, manage, read, auditOf, expectNothingWritten } = makeRateCalls(fixture);

describe('copy_default', () => {
  test("replaces the courier's tiers with copies of the default tiers", async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const globals = await stored(null);
    const { message, data } = await manage('manager', { action: 'copy_default', courier_id: courierId }).ok();
    expect(message).toBe('Default rates copied.');
    expect(data).toMatchObject({ courier_id: courierId, uses_global_rates: false, warnings: [] });
    expect(values(data.rates)).toEqual(GLOBAL);
    expect((await read(courierId)).courier).toMatchObject({
      uses_global_rates: false,
      specific_rates: data.rates,
    });
    for (const { id } of globals) expect(ids(data.rates)).not.toContain(id);
    expect(await stored(null)).toEqual(globals);
    const [, entry] = await auditOf(courierId);
    expect(entry).toMatchObject({
      action: 'rates.copied',
      before: { rates: [{ start_weight_lb: '0.000', end_weight_lb: '1.000', fee_usd: '1.00' }] },
    });
    expect(entry?.after).toMatchObject({ rates: [{}, {}, {}] });
  });

  test('writes nothing if the tiers are already equal', async () => {
    const courierId = await newCourier();
    const first = await manage('manager', { action: 'copy_default', courier_id: courierId }).ok();
    await expectNothingWritten(async () => {
      const again = await manage('manager', { action: 'copy_default', courier_id: courierId }).ok();
      expect(again.data).toEqual(first.data);
      expect(again.message).toContain('Nothing was changed');
    });
  });

  describe('from an empty default table', () => {
    const other = withService();
    const there = makeRateCalls(other);

    test('rejects copying an empty default table, which is saved with a warning and leaves couriers without fees', async () => {
      const emptied = await there.save(null, []).ok();
      expect(emptied.data).toEqual({
        courier_id: null,
        rates: [],
        warnings: ['There is no rate table.'],
      });
      await there.expectNothingWritten(async () => {
        const copy = { action: 'copy_default', courier_id: IEX };
        await there.manage('manager', copy).refused(400, 'default_rates_missing');
      });
      const period = { courier_id: HRB, start_date: '2020-01-01', end_date: '2099-12-31' };
      const { data } = await other.api.as('manager').previewCourierInvoice(period).ok();
      expect(data.summary.total_fees).toBe(0);
      expect(data.summary.total_packages).toBeGreaterThan(0);
    });
  });

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    for (const courier_id of [UNKNOWN_ID, TWO]) {
      await manage('admin', { action: 'copy_default', courier_id }).refused(404, 'courier_not_found');
    }
  });
});

describe('delete_rate', () => {
  test('deletes one tier, warns about the resulting gap and is audited', async () => {
    const courierId = await newCourier([tier(0, 1, 1), tier(1, 2, 2), tier(2, 3, 3)]);
    const [first, second, third] = ids((await read(courierId)).courier.specific_rates);
    const { message, data } = await manage('manager', { action: 'delete_rate', rate_id: second }).ok();
    expect(message).toBe('Rate deleted.');
    expect(data).toEqual({
      courier_id: courierId,
      rates: [tier(0, 1, 1, first), tier(2, 3, 3, third)],
      uses_global_rates: false,
      warnings: ['No tier covers weights between 1 and 2 lb.'],
    });
    const [, entry] = await auditOf(courierId);
    expect(entry).toMatchObject({ action: 'rate.deleted', entity: 'courier' });
    const tiersOf = (value: unknown) => ids((value as { rates: { id: number }[] }).rates);
    expect(tiersOf(entry?.before)).toEqual([first, second, third]);
    expect(tiersOf(entry?.after)).toEqual([first, third]);
  });

  test('applies the default tiers after the last tier is deleted', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [id] = ids((await read(courierId)).courier.specific_rates);
    const { message, data } = await manage('manager', { action: 'delete_rate', rate_id: id }).ok();
    expect(message).toBe('Rate deleted. The courier is billed by the default rates now.');
    expect(data).toMatchObject({ rates: [], uses_global_rates: true });
  });

  describe('of the default table', () => {
    const other = withService();
    const there = makeRateCalls(other);

    test('audits the deletion of a default tier under the tenant', async () => {
      const [, middle] = await there.stored(null);
      const { data } = await there.manage('admin', { action: 'delete_rate', rate_id: middle?.id }).ok();
      expect(data).toMatchObject({
        courier_id: null,
        warnings: ['No tier covers weights between 5 and 15 lb.'],
      });
      expect(await other.db.all('audit_entries', { action: 'rate.deleted' })).toMatchObject([
        { entity: 'tenant', entity_id: DEMO_TENANT },
      ]);
    });
  });

  test('responds 404 identically to deleted, unknown and foreign tiers', async () => {
    const courierId = await newCourier([tier(0, 1, 1)]);
    const [gone] = ids((await read(courierId)).courier.specific_rates);
    await manage('manager', { action: 'delete_rate', rate_id: gone }).ok();
    const [other] = await db.all('rate_tiers', { tenant_id: TENANT_TWO });
    await expectNothingWritten(async () => {
      const messages: string[] = [];
      for (const rate_id of [gone, 2_147_483_647, other?.id]) {
        const deletion = { action: 'delete_rate', rate_id };
        const refusal = await manage('manager', deletion).refused(404, 'rate_not_found');
        expect(refusal.body).not.toHaveProperty('errors');
        messages.push(refusal.message);
      }
      expect(new Set(messages).size).toBe(1);
    });
  });
});

describe('update_air_freight', () => {
  const update = (courier_id: string, air_freight_rate: unknown, as = 'manager') =>
    manage(as, { action: 'update_air_freight', courier_id, air_freight_rate });

  test.each([0, 0.01, 0.29, 1005, 4.35, 87654321.37, 99999999.99])(
    'stores and returns %d exactly',
    async (rate) => {
      const courierId = await newCourier([], '3.33');
      const { message, data } = await update(courierId, rate).ok();
      expect(message).toBe('Air freight rate updated.');
      expect(data).toEqual({ courier_id: courierId, air_freight_rate: rate });
      expect((await read(courierId)).courier.air_freight_rate).toBe(rate);
      expect((await db.courier(courierId)).air_freight_rate).toBe(rate.toFixed(2));
      expect(await auditOf(courierId)).toMatchObject([
        {
          action: 'courier.air_freight_updated',
          actor_id: DEMO.users.manager,
          before: { air_freight_rate: '3.33' },
          after: { air_freight_rate: rate.toFixed(2) },
        },
      ]);
    },
  );

  test('writes nothing if the rate is equal', async () => {
    const courierId = await newCourier([], '1.10');
    await expectNothingWritten(async () => {
      const { message, data } = await update(courierId, 1.1).ok();
      expect(data.air_freight_rate).toBe(1.1);
      expect(message).toBe('The rates already have these values. Nothing was changed.');
    });
  });

  test('applies to the next preview', async () => {
    await update(IEX, 2.25).ok();
    const period = { courier_id: IEX, start_date: '2020-01-01', end_date: '2099-12-31' };
    const { data } = await api.as('iex').previewCourierInvoice(period).ok();
    expect(data.summary.air_freight_rate).toBe(2.25);
    await update(IEX, 1.75).ok();
  });

  test('responds 404 to an unknown courier and one of another tenant', async () => {
    await expectNothingWritten(async () => {
      for (const id of [UNKNOWN_ID, TWO]) await update(id, 1).refused(404, 'courier_not_found');
    });
  });

  test.each([undefined, null, '1', -0.01, 0.001, 0.005, 1e-10, 100000000])(
    'rejects %j with 400 naming air_freight_rate',
    async (rate) => {
      expect(fieldsOf(await update(HRB, rate).refused(400, 'validation_failed'))).toEqual([
        'air_freight_rate',
      ]);
    },
  );
});

describe.each([
  ["the application's filters alone", { rowSecurity: false }],
  ['row-level security alone', { applicationFilters: false }],
])('with %s', (_name, options) => {
  const other = withService(options);
  const there = makeRateCalls(other);

  test("save, copy and delete affect only the tenant's own tables", async () => {
    const foreign = () => other.db.all('rate_tiers', { tenant_id: TENANT_TWO });
    const before = await foreign();
    await there.save(null, [tier(0, 1, 1), tier(1, 2, 2)], 'admin').ok();
    expect(values((await there.read(IEX, 'admin')).global_default_rates)).toEqual([
      [0, 1, 1],
      [1, 2, 2],
    ]);
    const copied = await there.manage('admin', { action: 'copy_default', courier_id: HRB }).ok();
    expect(values(copied.data.rates)).toEqual([
      [0, 1, 1],
      [1, 2, 2],
    ]);
    const { couriers } = await there.read(undefined, 'admin');
    expect(couriers.map(({ courier_code }) => courier_code)).toEqual(['HRB', 'IEX']);
    const deletion = { action: 'delete_rate', rate_id: before[0]?.id };
    await there.manage('admin', deletion).refused(404, 'rate_not_found');
    await there.save(TWO, [], 'admin').refused(404, 'courier_not_found');
    const air = { action: 'update_air_freight', courier_id: TWO, air_freight_rate: 9 };
    await there.manage('admin', air).refused(404, 'courier_not_found');
    expect(await foreign()).toEqual(before);
  });
});
