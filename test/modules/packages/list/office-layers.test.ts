import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { withService } from '../../../support/fixture/with-service.js';
import { idsOf, makePackageList } from './listed-packages.js';

const { IEX, HRB } = DEMO.couriers;
const DAY = { entryDateFloor: '2017-07-07', entryDateCeiling: '2017-07-07' };

// Each layer must be sufficient alone.
describe.each([
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('filters of the office with %s', (_name, options) => {
  const fixture = withService(options);
  const { api, db } = fixture;
  const { addPackages, list } = makePackageList(fixture);

  test('shows a courier nothing by place, by draft and by text', async () => {
    const at = { received_at: '2017-07-07T12:00:00Z', shipper: 'Layers' };
    const [own] = await addPackages([
      { ...at, courier_id: IEX, user_code: 'IEX-1001', tracking_number: 'LAYERS-IEX' },
      { ...at, courier_id: HRB, user_code: 'HRB-2001', tracking_number: 'LAYERS-HRB' },
    ]);
    await db.query(
      'insert into parcel_positions (tenant_id, parcel_key, scan, location) values ($1, $2, $2, $3)',
      [DEMO.tenants.demo, 'LAYERS-IEX', 'L-1'],
    );
    const [start_date, end_date] = [DAY.entryDateFloor, DAY.entryDateCeiling];
    const draft = {
      action: 'create_draft',
      courier_id: IEX,
      service_type: 'air',
      start_date,
      end_date,
    } as const;
    await api.as('manager').manageCourierBills(draft).succeeded();
    const select = async (body: object) => idsOf(await list('iex', { shipper: 'Layers', ...body }));
    expect(await select({ location: 'L-1' })).toEqual([]);
    expect(await select({ billed: true, ...DAY })).toEqual([]);
    expect(await select({ billed: false, ...DAY })).toEqual([own]);
    expect(await select({ q: 'LAYERS' })).toEqual([own]);
    expect(await select({ status: ['received'], owner: 'customer', min_age_days: 1 })).toEqual([own]);
    expect(idsOf(await list('two/admin', { q: 'LAYERS' }))).toEqual([]);
    expect(idsOf(await list('two/admin', { location: 'L-1' }))).toEqual([]);
    expect(idsOf(await list('admin', { location: 'L-1' }))).toEqual([own]);
  });
});
