import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, newNumber } from '../../support/builders/parcels.js';
import { withService, type Fixture } from '../../support/fixture/with-service.js';
import { deviceScan, newScanNumber, sendScan } from '../../support/scans/device-scans.js';

const { IEX } = DEMO.couriers;
const NOBODY = '01930a3e-7c1d-7e11-9c5a-2f4b8d6effff';

const announce = async ({ api }: Fixture, courier: 'iex' | 'hrb', number: string): Promise<string> => {
  const user_code = CUSTOMERS[courier === 'iex' ? 'IEX' : 'HRB'];
  const body = { user_code, tracking_number: number, vendor: `Shop of ${courier}` };
  return (await api.as(courier).createPrealert(body).created()).data.prealert_id;
};

const receive = async ({ api }: Fixture, number: string, fields: object = {}) =>
  (
    await api
      .as('warehouse')
      .receivePackage({ tracking_number: number, weight: 2.5, ...fields })
      .created()
  ).data;

const read = async ({ api }: Fixture, as: string, name: string) =>
  (await api.as(as).getPackage({ package: name }).ok()).data;

describe('getPackage', () => {
  const fixture = withService();
  const { api, db } = fixture;

  test('returns the record, the customer, the owner and the warehouse', async () => {
    const number = newNumber();
    const prealertId = await announce(fixture, 'iex', number);
    const size = { length: 12, width: 9.5, height: 4, package_type: 'box', shipper: 'Example Books' };
    const { package_id, house_number } = await receive(fixture, number, size);
    const customer = await db.one('customers', { courier_id: IEX, user_code: CUSTOMERS.IEX });
    const { received_at, updated_at, first_name, last_name } = await db.package(package_id);
    const warehouse = await db.one('warehouses', { id: DEMO.warehouses.primary });
    const shown = (time: Date) => time.toISOString().slice(0, 19).replace('T', ' ');
    const reply = await api.as('admin').getPackage({ package: package_id }).ok();
    expect(reply.message).toBe(`Package ${house_number}.`);
    expect(reply.data).toEqual({
      package_id,
      tracking_number: number,
      house_number,
      status: 'received',
      courier_id: IEX,
      courier_code: 'IEX',
      courier_name: 'Island Express',
      user_code: CUSTOMERS.IEX,
      first_name,
      last_name,
      customer: {
        customer_id: customer.id,
        first_name: customer.first_name,
        last_name: customer.last_name,
        branch: customer.branch,
        is_active: true,
      },
      is_claimed: false,
      is_disputed: false,
      claims: [
        {
          prealert_id: prealertId,
          courier_id: IEX,
          courier_name: 'Island Express',
          user_code: CUSTOMERS.IEX,
          first_name: customer.first_name,
          last_name: customer.last_name,
          tracking_number: number,
          vendor: 'Shop of iex',
          status: 'received',
          created_at: shown((await db.one('prealerts', { id: prealertId })).created_at),
        },
      ],
      prealert_id: prealertId,
      reference: null,
      weight: 2.5,
      received_weight: 2.5,
      length: 12,
      width: 9.5,
      height: 4,
      package_type: 'box',
      shipper: 'Example Books',
      description: null,
      carrier_id: null,
      carrier_name: null,
      warehouse_id: DEMO.warehouses.primary,
      warehouse_name: warehouse.name,
      location: null,
      manifest: null,
      bill: null,
      entry_date_time: shown(received_at),
      entry_date_time_utc: `${shown(received_at).replace(' ', 'T')}Z`,
      updated_at: shown(updated_at),
      updated_at_utc: `${shown(updated_at).replace(' ', 'T')}Z`,
    });
  });

  test('finds a package by its id and its house number in capital and small letters', async () => {
    const { package_id, house_number } = await receive(fixture, newNumber());
    for (const name of [house_number, house_number.toLowerCase(), package_id, package_id.toUpperCase()])
      expect((await read(fixture, 'warehouse', ` ${name} `)).package_id).toBe(package_id);
  });

  test('shows two claims to staff as a dispute, and to no courier', async () => {
    const number = newNumber();
    await announce(fixture, 'iex', number);
    await announce(fixture, 'hrb', number);
    const { package_id } = await receive(fixture, number);
    const detail = await read(fixture, 'manager', package_id);
    expect(detail.claims.map(({ courier_name, status }) => [courier_name, status])).toEqual([
      ['Island Express', 'flagged'],
      ['Harbour Couriers', 'flagged'],
    ]);
    expect([detail.is_disputed, detail.courier_id, detail.customer]).toEqual([true, null, null]);
    await api.as('iex').getPackage({ package: package_id }).refused(404, 'package_not_found');
  });

  test('shows the place, the weight at the receipt and the correction to staff only', async () => {
    const number = newScanNumber('DETAIL');
    const { package_id } = await receive(fixture, number, { user_code: CUSTOMERS.IEX });
    await sendScan(api, deviceScan('locate', number, 1, { location: 'A-12' }));
    await api.as('manager').updatePackage({ package_id, weight: 3.25 }).ok();
    const shown = async (as: string) => {
      const { weight, received_weight, location } = await read(fixture, as, package_id);
      return { weight, received_weight, location };
    };
    expect(await shown('warehouse')).toEqual({ weight: 3.25, received_weight: 2.5, location: 'A-12' });
    expect(await shown('iex')).toEqual({ weight: 3.25, received_weight: null, location: null });
  });

  test('masks the number of an unknown customer for its courier, and hides its pre-alerts', async () => {
    const [id = ''] = DEMO.packages.customerUnknown.IEX;
    const { tracking_number: number, tracking_key } = await db.package(id);
    const insert = `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
      select $1, new_id(), $2, $3, $4, $5, 'flagged'`;
    await db.query(insert, [DEMO.tenants.demo, IEX, CUSTOMERS.IEX, number, tracking_key]);
    const masked = await read(fixture, 'iex', id);
    expect(masked.tracking_number).toBe('*'.repeat(number.length - 4) + number.slice(-4));
    expect([masked.claims, masked.is_disputed, masked.prealert_id]).toEqual([[], false, null]);
    const whole = await read(fixture, 'admin', id);
    expect([whole.tracking_number, whole.claims.length, whole.is_disputed]).toEqual([number, 1, true]);
  });

  test('shows the manifest to staff and to the courier aboard', async () => {
    const [id = ''] = DEMO.packages.shipped.IEX;
    const { manifest_id } = await db.package(id);
    const stored = await db.manifest(manifest_id ?? '');
    const expected = { manifest_id, manifest_number: stored.manifest_number, status: stored.status };
    for (const as of ['admin', 'iex'])
      expect((await read(fixture, as, id)).manifest).toMatchObject({
        ...expected,
        awb_number: stored.awb_number,
        flight_number: stored.flight_number,
        flight_date: stored.flight_date && expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      });
  });

  test('shows a draft bill to staff, and to the courier when it is published', async () => {
    const { package_id } = await receive(fixture, newNumber(), { user_code: CUSTOMERS.IEX });
    await db.query(`update packages set received_at = '2019-05-05T12:00:00Z' where id = $1`, [package_id]);
    const period = { start_date: '2019-05-05', end_date: '2019-05-05' };
    const manager = api.as('manager');
    const drafted = { action: 'create_draft', courier_id: IEX, service_type: 'air', ...period } as const;
    const { bill_id } = (await manager.manageCourierBills(drafted).succeeded()).data;
    const draft = (await read(fixture, 'admin', package_id)).bill;
    expect(draft).toMatchObject({ bill_id, status: 'draft', amount: expect.any(Number) });
    expect((await read(fixture, 'iex', package_id)).bill).toBeNull();
    await manager.manageCourierBills({ action: 'publish', bill_id }).ok();
    const published = (await read(fixture, 'iex', package_id)).bill;
    expect(published).toEqual({ ...draft, status: 'published', invoice_number: published?.invoice_number });
  });

  test('refuses unknown, blank and missing names, and callers without a token', async () => {
    for (const name of [NOBODY, 'NO-SUCH-BOX', '%'])
      await api.as('admin').getPackage({ package: name }).refused(404, 'package_not_found');
    await api.as('admin').getPackage({ package: ' ' }).refused(400, 'validation_failed');
    await api.as('admin').getPackage().refused(400, 'validation_failed');
    await api.anonymous.getPackage({ package: NOBODY }).refused(401, 'token_missing');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('getPackage with %s', (_name, options) => {
  const fixture = withService(options);
  const { api, db } = fixture;

  test("responds alike to another courier's, another tenant's and an unknown package, by id and house number", async () => {
    const { package_id, house_number } = await receive(fixture, newNumber(), { user_code: CUSTOMERS.HRB });
    const [ofTwo = ''] = DEMO.packages.two;
    const { house_number: houseOfTwo } = await db.package(ofTwo);
    for (const name of [package_id, house_number, ofTwo, houseOfTwo, NOBODY])
      await api.as('iex').getPackage({ package: name }).refused(404, 'package_not_found');
    for (const name of [ofTwo, houseOfTwo])
      await api.as('admin').getPackage({ package: name }).refused(404, 'package_not_found');
    expect((await read(fixture, 'hrb', house_number)).package_id).toBe(package_id);
  });

  test('shows to a courier no claim of another courier, no place and no draft', async () => {
    const number = newNumber();
    const { package_id } = await receive(fixture, number, { user_code: CUSTOMERS.IEX });
    const { tracking_key } = await db.package(package_id);
    await db.query(
      `insert into prealerts (tenant_id, id, courier_id, user_code, tracking_number, tracking_key, status)
       select $1, new_id(), $2, $3, $4, $5, 'flagged'`,
      [DEMO.tenants.demo, DEMO.couriers.HRB, CUSTOMERS.HRB, number, tracking_key],
    );
    await db.query(
      `insert into parcel_positions (tenant_id, parcel_key, scan, location) values ($1, $2, $3, 'A-1')`,
      [DEMO.tenants.demo, tracking_key, number],
    );
    const { claims, is_disputed, location } = await read(fixture, 'iex', package_id);
    expect([claims, is_disputed, location]).toEqual([[], false, null]);
    expect((await read(fixture, 'admin', package_id)).claims).toHaveLength(1);
  });
});
