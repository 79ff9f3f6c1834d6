import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;

describe('the list of unknown parcels', () => {
  const { api, service } = withService();
  const parcels = () => makeParcels(service());
  const list = async () => (await api.as('warehouse').listUnknownParcels({ limit: 100 }).ok()).data;

  test('names who claims a parcel, and who has announced it after it came, oldest first', async () => {
    const number = newNumber();
    const packageId = await parcels().receive(number);
    const claim_id = await insertClaim(service().owner, { courierId: HRB, trackingNumber: number });
    const prealert_id = await parcels().announce('IEX', number);
    const found = (await list()).find(({ package_id }) => package_id === packageId);
    expect(found).toMatchObject({ tracking_number: number, courier_id: null, status: 'received' });
    const claim = { claim_id, prealert_id: null, courier_id: HRB, user_code: CUSTOMERS.HRB };
    const announced = { claim_id: null, prealert_id, courier_id: IEX, user_code: CUSTOMERS.IEX };
    expect(found?.claimants).toMatchObject([claim, announced]);
  });

  test('finds an announced label of the number inside it, as a scan would', async () => {
    const number = '9400111899223100701112';
    const packageId = await parcels().receive(number);
    const prealert_id = await parcels().announce('IEX', `42033102${number}`);
    const found = (await list()).find(({ package_id }) => package_id === packageId);
    expect(found?.claimants.map((each) => each.prealert_id)).toEqual([prealert_id]);
  });

  test('has no parcel with a customer, and no claim that is decided', async () => {
    const number = newNumber();
    const [owned, unknown] = [
      await parcels().receive(newNumber(), { user_code: CUSTOMERS.IEX }),
      await parcels().receive(number),
    ];
    await insertClaim(service().owner, { courierId: HRB, trackingNumber: number, status: 'refused' });
    const listed = await list();
    expect(listed.map(({ package_id }) => package_id)).not.toContain(owned);
    expect(listed.find(({ package_id }) => package_id === unknown)?.claimants).toEqual([]);
  });

  test('is read page by page, and only by staff', async () => {
    for (let n = 0; n < 3; n += 1) await parcels().receive(newNumber());
    const ids: string[] = [];
    let before: string | undefined;
    do {
      const { data, meta } = await api.as('admin').listUnknownParcels({ limit: 2, before }).ok();
      ids.push(...data.map(({ package_id }) => package_id));
      before = meta.next_before ?? undefined;
    } while (before !== undefined);
    expect(ids).toEqual((await list()).map(({ package_id }) => package_id));
    await api.as('iex').listUnknownParcels({}).refused(403, 'permission_denied');
  });

  test('uses an index for the page, whatever the number of packages with a customer', async () => {
    const client = await service().owner.connect();
    await client.query('begin');
    // The demo has so few packages that any plan is cheap.
    for (const setting of ['enable_seqscan', 'enable_bitmapscan', 'enable_sort'])
      await client.query(`set local ${setting} = off`);
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain select p.id from packages p where p.user_code is null and p.tenant_id = '${DEMO.tenants.demo}'
       and p.id < 'ffffffff-ffff-7fff-bfff-ffffffffffff' order by p.id desc limit 26`,
    );
    await client.query('rollback');
    client.release();
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('packages_unknown');
    expect(plan).not.toContain('Sort');
  });
});

// Each layer must be sufficient alone.
describe.each([
  ['both layers', {}],
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('claims with %s', (_name, options) => {
  const { api, service } = withService(options);

  test("show a courier only its own, and a tenant nothing of another one's", async () => {
    const number = newNumber();
    const parcels = makeParcels(service());
    const packageId = await parcels.receive(number);
    const [iex, hrb] = [
      await insertClaim(service().owner, { courierId: IEX, trackingNumber: number }),
      await insertClaim(service().owner, { courierId: HRB, trackingNumber: number }),
    ];
    const idsFor = async (user: string) =>
      (await api.as(user).listParcelClaims({ limit: 100 }).ok()).data.map(({ claim_id }) => claim_id);
    expect([await idsFor('iex'), await idsFor('hrb')]).toEqual([[iex], [hrb]]);
    expect((await idsFor('admin')).sort()).toEqual([iex, hrb].sort());
    expect([await idsFor('two/admin'), await idsFor('two/two')]).toEqual([[], []]);
    const unknown = (await api.as('two/admin').listUnknownParcels({ limit: 100 }).ok()).data;
    expect(unknown.map(({ package_id }) => package_id)).not.toContain(packageId);
    const body = { action: 'refuse', claim_id: iex, reason: 'No.' } as const;
    await api.as('two/admin').reviewParcelClaim(body).refused(404, 'parcel_claim_not_found');
    await api.as('iex').reviewParcelClaim(body).refused(403, 'permission_denied');
  });
});
