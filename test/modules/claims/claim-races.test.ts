import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import { untilAdmitted } from '../../support/service/service.js';

const { IEX, HRB } = DEMO.couriers;
const CLAIMANTS = rounds(100, 400);

const { api, db, service } = withService({ poolSize: 20 });

let couriers: string[] = [];
beforeAll(async () => {
  const { owner } = service();
  const { rows } = await owner.query<{ id: string }>(
    `insert into couriers (tenant_id, id, code, name, house_color)
     select tenant_id, new_id(), 'RC' || n, 'Racing courier ' || n, house_color from couriers, generate_series(1, $2::int) n
     where id = $1 returning id`,
    [IEX, CLAIMANTS],
  );
  couriers = rows.map(({ id }) => id);
  await owner.query(
    `insert into customers (tenant_id, id, courier_id, user_code, first_name, last_name)
     select tenant_id, new_id(), id, 'RACER-1', 'First', 'Racer' from couriers where id = any($1)`,
    [couriers],
  );
  await service().tokenOf('warehouse');
}, 120_000);

const review = (body: object) =>
  untilAdmitted(() =>
    api
      .as('warehouse')
      .reviewParcelClaim(unchecked({ reason: 'Race.', ...body }))
      .answer(),
  );

test(`of ${CLAIMANTS} claims of one parcel that are approved at the same time, exactly one gets it`, async () => {
  const number = newNumber();
  const packageId = await makeParcels(service()).receive(number);
  const claims = await Promise.all(
    couriers.map((courierId) => insertClaim(service().owner, { courierId, trackingNumber: number })),
  );
  const replies = await Promise.all(claims.map((claim_id) => review({ action: 'approve', claim_id })));
  const winners = replies.filter(({ status }) => status === 200);
  expect(winners.map(({ data }) => data.package_id)).toEqual([packageId]);
  const refusals = new Set(replies.filter(({ status }) => status !== 200).map(({ body }) => body['code']));
  expect([...refusals]).toEqual(['parcel_claim_decided']);
  const [approved, ...others] = await makeParcels(service()).select(
    `select c.courier_id, p.courier_id as owner from parcel_claims c join packages p on p.id = c.package_id
     where c.tracking_number = $1 and c.status = 'approved'`,
    [number],
  );
  expect(others).toEqual([]);
  expect(approved?.['owner']).toBe(approved?.['courier_id']);
  expect(await db.count('parcel_claims', { tracking_number: number, status: 'refused' })).toBe(CLAIMANTS - 1);
}, 300_000);

test('a scan, an update by staff, a refusal and two approvals of a parcel at once leave one owner, and no deadlock', async () => {
  const parcels = makeParcels(service());
  for (let round = 0; round < rounds(8, 60); round += 1) {
    const number = newNumber();
    const packageId = await parcels.receive(number);
    const [iex, hrb] = await Promise.all(
      [IEX, HRB].map((courierId) => insertClaim(service().owner, { courierId, trackingNumber: number })),
    );
    await parcels.announce('HRB', number);
    const replies = await Promise.all([
      review({ action: 'approve', claim_id: iex }),
      review({ action: 'approve', claim_id: hrb }),
      review({ action: 'refuse', claim_id: hrb }),
      untilAdmitted(() => parcels.scan(number)),
      untilAdmitted(() => parcels.update('admin', packageId, { user_code: CUSTOMERS.IEX })),
    ]);
    expect(replies.filter(({ status }) => status >= 500)).toEqual([]);
    const row = await parcels.packageRow(packageId);
    const expected = row['courier_id'] === IEX ? CUSTOMERS.IEX : CUSTOMERS.HRB;
    expect(row['user_code']).toBe(expected);
    const approved = await parcels.select(
      "select courier_id from parcel_claims where tracking_number = $1 and status = 'approved'",
      [number],
    );
    for (const claim of approved) expect(claim['courier_id']).toBe(row['courier_id']);
  }
}, 300_000);
