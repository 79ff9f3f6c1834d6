import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked } from '../../support/fixture/sent.js';
import { makeRateCalls, values, GLOBAL, UNKNOWN_ID, fieldsOf, ids, tier } from './rate-calls.js';

const { IEX, HRB, TWO } = DEMO.couriers;
const { demo: DEMO_TENANT, two: TENANT_TWO } = DEMO.tenants;

const fixture = withService();
const { api, db } = fixture;
const { read, stored, expectNothingWritten, newCourier, save, manage } = makeRateCalls(fixture);

describe('reading rates', () => {
  test("returns a courier's tiers and the default tiers ordered by weight", async () => {
    const { message, data } = await api.as('manager').getCourierRates({ courier_id: IEX.toUpperCase() }).ok();
    expect(message).toBe('Rates of Island Express.');
    expect(Object.keys(data).sort()).toEqual(['courier', 'global_default_rates']);
    expect(values(data.global_default_rates)).toEqual(GLOBAL);
    expect(data.courier).toEqual({
      courier_id: IEX,
      courier_name: 'Island Express',
      courier_code: 'IEX',
      air_freight_rate: 1.75,
      specific_rates: (await stored(IEX)).map(({ id, start, end, fee }) => ({
        id,
        startweight: Number(start),
        endweight: Number(end),
        fee: Number(fee),
      })),
      uses_global_rates: false,
    });
  });

  test('reports that the default tiers apply to a courier without tiers', async () => {
    const { courier } = await read(HRB);
    expect(courier).toMatchObject({ courier_code: 'HRB', specific_rates: [], uses_global_rates: true });
  });

  test('returns every courier of the tenant ordered by code if no courier is given', async () => {
    const { message, data } = await api.as('admin').getCourierRates().ok();
    expect(Object.keys(data).sort()).toEqual(['couriers', 'global_default_rates']);
    const wanted = await db.query('select id from couriers where tenant_id = $1 order by code', [
      DEMO_TENANT,
    ]);
    expect(data.couriers.map(({ courier_id }) => courier_id)).toEqual(wanted.map(({ id }) => id));
    const [iex] = data.couriers.filter(({ courier_id }) => courier_id === IEX);
    expect(iex).toEqual((await read(IEX)).courier);
    expect(message).toBe(`Rates of ${wanted.length} couriers.`);
  });

  test('responds 404 identically to an unknown courier and one of another tenant', async () => {
    const refuse = (courier_id: string) =>
      api.as('manager').getCourierRates({ courier_id }).refused(404, 'courier_not_found');
    const [unknown, foreign] = [await refuse(UNKNOWN_ID), await refuse(TWO)];
    expect(unknown.message).toBe(foreign.message);
  });

  test('shows another tenant only its own rates', async () => {
    const data = await read(undefined, 'two/admin');
    expect(data.couriers.map(({ courier_code }) => courier_code)).toEqual(['TWO']);
    const own = await db.all('rate_tiers', { tenant_id: TENANT_TWO });
    expect(ids(data.global_default_rates).sort()).toEqual(own.map(({ id }) => id).sort());
  });
});

describe('access to rates', () => {
  test.each([
    ['warehouse', 403, 'permission_denied'],
    ['iex', 403, 'permission_denied'],
    ['disabled', 403, 'account_disabled'],
    ['', 401, 'token_missing'],
  ])('denies the caller %j with %d', async (as, status, code) => {
    const bodies = [
      { action: 'save_rates', courier_id: IEX, rates: [] },
      { action: 'save_rates', rates: [] },
      { action: 'copy_default', courier_id: IEX },
      { action: 'delete_rate', rate_id: 4 },
      { action: 'update_air_freight', courier_id: IEX, air_freight_rate: 0.01 },
    ];
    await expectNothingWritten(async () => {
      const who = as ? { as } : {};
      await api.with(who).getCourierRates().refused(status, code);
      for (const body of bodies) {
        await api
          .with({ ...who })
          .manageCourierRates(unchecked(body))
          .refused(status, code);
      }
    });
  });

  test.each(['admin', 'manager'])('%s may read and manage rates', async (as) => {
    const courierId = await newCourier();
    expect((await read(courierId, as)).courier.courier_id).toBe(courierId);
    await save(courierId, [tier(0, 1, 1)], as).ok();
    await manage(as, { action: 'copy_default', courier_id: courierId }).ok();
    const [first] = await stored(courierId);
    await manage(as, { action: 'delete_rate', rate_id: first?.id }).ok();
    const air = { action: 'update_air_freight', courier_id: courierId, air_freight_rate: 2 };
    await manage(as, air).ok();
  });
});

describe('action', () => {
  test.each([{}, { action: 'drop_rates' }, { action: 'SAVE_RATES', rates: [] }, { action: null }])(
    'rejects %j with 400 naming action',
    async (body) => {
      expect(fieldsOf(await manage('admin', body).refused(400, 'validation_failed'))).toEqual(['action']);
    },
  );
});
