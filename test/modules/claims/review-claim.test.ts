import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { withService } from '../../support/fixture/with-service.js';
import { eventsOf, setWebhookUrls } from '../../support/receivers/outbound.js';

const { IEX, HRB } = DEMO.couriers;
const REASON = 'The name of the customer is on the label.';

const { api, db, service } = withService();
const parcels = () => makeParcels(service());
beforeAll(() => setWebhookUrls(service().owner, [IEX, HRB]), 60_000);

const staff = () => api.as('warehouse');
const claimOf = (courierId: string, trackingNumber: string) =>
  insertClaim(service().owner, { courierId, trackingNumber });
const claimRow = async (id: string) =>
  (
    await parcels().select('select status, reason, package_id, decided_by from parcel_claims where id = $1', [
      id,
    ])
  )[0];
const approve = (claim_id: string) =>
  staff().reviewParcelClaim({ action: 'approve', claim_id, reason: REASON });
const resolve = (prealert_id: string) =>
  staff().reviewParcelClaim({ action: 'resolve', prealert_id, reason: REASON });

async function disputed() {
  const number = newNumber();
  const packageId = await parcels().receive(number);
  const [iex, hrb] = [await claimOf(IEX, number), await claimOf(HRB, number)];
  return { number, packageId, iex, hrb };
}

describe('approve', () => {
  test('gives the parcel to the customer, refuses the others, and tells the new owner', async () => {
    const { number, packageId, iex, hrb } = await disputed();
    const rival = await parcels().announce('HRB', number);
    const { data } = await approve(iex).ok();
    expect(data).toEqual({ package_id: packageId, refused_claims: 1, closed_prealerts: 1 });
    expect(await parcels().packageRow(packageId)).toMatchObject({
      courier_id: IEX,
      user_code: CUSTOMERS.IEX,
      prealert_id: null,
    });
    const by = DEMO.users.warehouse;
    expect(await claimRow(iex)).toEqual({
      status: 'approved',
      reason: null,
      package_id: packageId,
      decided_by: by,
    });
    expect(await claimRow(hrb)).toEqual({
      status: 'refused',
      reason: null,
      package_id: null,
      decided_by: by,
    });
    expect(await parcels().prealertRow(rival)).toMatchObject({ status: 'pending' });
    expect((await eventsOf(service().owner, [packageId])).map(({ type }) => type)).toEqual([
      'package.created',
    ]);
    const actions = async (id: string) => (await parcels().auditOf(id)).map(({ action }) => action);
    expect(await actions(iex)).toEqual(['parcel_claim.approved']);
    expect(await actions(hrb)).toEqual(['parcel_claim.refused']);
    expect(await actions(packageId)).toContain('package.assigned');
    expect(await actions(rival)).toContain('prealert.reviewed');
    const { rows } = await service().owner.query(
      'select distinct remarks from audit_entries where entity_id = any($1)',
      [[iex, hrb]],
    );
    expect(rows).toEqual([{ remarks: REASON }]);
  });

  test('shows the loser nothing of the winner, and a later scan does not flag its pre-alert again', async () => {
    const { number, packageId, iex, hrb } = await disputed();
    const rival = await parcels().announce('HRB', number);
    await approve(iex).ok();
    const [lost] = (await api.as('hrb').listParcelClaims({ limit: 1 }).ok()).data;
    expect(lost).toMatchObject({ claim_id: hrb, status: 'refused', reason: null, package_id: null });
    await parcels().scan(number);
    expect(await parcels().statusOf(rival)).toBe('pending');
    const found = await api.as('hrb').listPackages({ trackingNumber: number }).ok();
    expect(found.data).toEqual([]);
    expect(packageId).not.toBe('');
  });

  test("receives the owner's pre-alerts that were announced after the parcel came", async () => {
    const { number, packageId, iex } = await disputed();
    const late = await parcels().announce('IEX', number);
    expect(await parcels().statusOf(late)).toBe('pending');
    await approve(iex).ok();
    expect(await parcels().statusOf(late)).toBe('received');
    expect(await parcels().packageRow(packageId)).toMatchObject({ prealert_id: late });
  });

  test('is refused for a number without a parcel, with another owner, and of a customer that is inactive', async () => {
    await approve(await claimOf(IEX, newNumber())).refused(400, 'package_not_assignable');
    const owned = newNumber();
    await parcels().receive(owned, { user_code: CUSTOMERS.HRB });
    const wrong = await claimOf(IEX, owned);
    await approve(wrong).refused(400, 'package_not_assignable');
    expect(await claimRow(wrong)).toMatchObject({ status: 'open' });
    const { packageId, iex } = await disputed();
    const elsewhere = { action: 'approve', claim_id: wrong, reason: REASON, package_id: packageId } as const;
    await staff().reviewParcelClaim(elsewhere).refused(400, 'package_not_assignable');
    const setActive = (isActive: boolean) =>
      service().owner.query(
        'update customers set is_active = $2 where id = (select customer_id from parcel_claims where id = $1)',
        [iex, isActive],
      );
    await setActive(false);
    await approve(iex).refused(400, 'unknown_user_code');
    await setActive(true);
    await approve(iex).ok();
    await approve(iex).refused(400, 'parcel_claim_decided');
  });
});

describe('resolve', () => {
  test('decides a dispute of pre-alerts in one call', async () => {
    const number = newNumber();
    const [iex, hrb] = [await parcels().announce('IEX', number), await parcels().announce('HRB', number)];
    const packageId = await parcels().receive(number);
    const claim = await claimOf(IEX, number);
    for (const id of [iex, hrb]) expect(await parcels().statusOf(id)).toBe('flagged');
    const { data } = await resolve(hrb).ok();
    expect(data).toEqual({ package_id: packageId, refused_claims: 1, closed_prealerts: 1 });
    expect(await parcels().packageRow(packageId)).toMatchObject({
      courier_id: HRB,
      user_code: CUSTOMERS.HRB,
      prealert_id: hrb,
    });
    expect([await parcels().statusOf(hrb), await parcels().statusOf(iex)]).toEqual(['received', 'pending']);
    expect(await claimRow(claim)).toMatchObject({ status: 'refused' });
    await resolve(hrb).refused(400, 'parcel_claim_decided');
    await resolve(packageId).refused(404, 'prealert_not_found');
  });

  test('clears the flags that couriers left for the parcel', async () => {
    const number = newNumber();
    const [iex, hrb] = [await parcels().announce('IEX', number), await parcels().announce('HRB', number)];
    await parcels().receive(number);
    await api.as('hrb').deletePrealert({ prealert_id: hrb }).ok();
    expect(await db.count('prealert_flags', { tracking_key: number })).toBe(1);
    await resolve(iex).ok();
    expect(await db.count('prealert_flags', { tracking_key: number })).toBe(0);
  });
});

describe('refuse', () => {
  const refuse = (claim_id: string) =>
    staff().reviewParcelClaim({ action: 'refuse', claim_id, reason: 'Another name is on the label.' });

  test('tells the courier the reason once, and changes no parcel and no other claim', async () => {
    const { packageId, iex, hrb } = await disputed();
    expect((await refuse(iex).ok()).data).toEqual({
      package_id: null,
      refused_claims: 1,
      closed_prealerts: 0,
    });
    const [told] = (await api.as('iex').listParcelClaims({ status: 'refused', limit: 1 }).ok()).data;
    expect(told).toMatchObject({ claim_id: iex, reason: 'Another name is on the label.', package_id: null });
    expect(await claimRow(hrb)).toMatchObject({ status: 'open' });
    expect(await parcels().packageRow(packageId)).toMatchObject({ courier_id: null });
    await refuse(iex).refused(400, 'parcel_claim_decided');
    await refuse(packageId).refused(404, 'parcel_claim_not_found');
  });
});

describe("a courier's package without a customer", () => {
  test('cannot be given a customer by the courier while another courier claims or has announced it', async () => {
    const number = newNumber();
    const packageId = await parcels().receive(number, { courier_id: IEX });
    const set = () => api.as('iex').updatePackage({ package_id: packageId, user_code: CUSTOMERS.IEX });
    const claim = await claimOf(HRB, number);
    const before = await parcels().packageRow(packageId);
    await set().refused(409, 'parcel_disputed');
    expect(await parcels().packageRow(packageId)).toEqual(before);
    await staff().reviewParcelClaim({ action: 'refuse', claim_id: claim, reason: 'No proof.' }).ok();
    const rival = await parcels().announce('HRB', number);
    await parcels().scan(number);
    expect(await parcels().statusOf(rival)).toBe('flagged');
    await set().refused(409, 'parcel_disputed');
    await staff().reviewPrealert({ prealert_id: rival, reason: 'Not theirs.' }).ok();
    await set().ok();
    expect(await parcels().packageRow(packageId)).toMatchObject({ user_code: CUSTOMERS.IEX });
  });

  test('is not frozen by its own claim, nor for staff', async () => {
    const [own, other] = [newNumber(), newNumber()];
    const [first, second] = [
      await parcels().receive(own, { courier_id: IEX }),
      await parcels().receive(other, { courier_id: IEX }),
    ];
    await claimOf(IEX, own);
    await api.as('iex').updatePackage({ package_id: first, user_code: CUSTOMERS.IEX }).ok();
    await claimOf(HRB, other);
    await api.as('admin').updatePackage({ package_id: second, user_code: CUSTOMERS.IEX }).ok();
  });
});
