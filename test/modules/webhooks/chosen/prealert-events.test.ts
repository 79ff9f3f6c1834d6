import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { HRB, IEX, withChosenEvents } from './chosen-receivers.js';

const { api, db, service, received, choose, storedTypes, forget } = withChosenEvents();
const parcels = () => makeParcels(service());
const ALL = ['prealert.received', 'prealert.flagged', 'prealert.claimed', 'prealert.reopened'];
const REASON = 'The name of the customer is on the label.';

beforeEach(forget);

const prealertsOf = async (courierId: string) =>
  (await received(courierId)).filter(({ type }) => type.startsWith('prealert.'));

const announce = async (TrackingNumber: string) =>
  (
    await api
      .withKey(DEMO.apiKeys.IEX)
      .submitPrealert({
        UserCode: CUSTOMERS.IEX,
        TrackingNumber,
        Vendor: 'Amazon',
        Reference: `ORDER ${TrackingNumber}`,
      })
      .created()
  ).data.prealert_id;

describe('prealert events', () => {
  test('a received parcel sends prealert.received with the package and the reference, once, to its courier only', async () => {
    await choose(IEX, ...ALL);
    await choose(HRB, ...ALL);
    const number = newNumber();
    const prealert_id = await announce(number);
    const package_id = await parcels().receive(number);
    await parcels().scan(number);
    const [event, ...more] = await prealertsOf(IEX);
    expect(more).toEqual([]);
    const house = (await db.package(package_id)).house_number;
    expect(event).toMatchObject({
      type: 'prealert.received',
      data: {
        prealert_id,
        tracking_number: number,
        user_code: CUSTOMERS.IEX,
        vendor: 'Amazon',
        reference: `ORDER ${number}`,
        status: 'received',
        package_id,
        house_number: house,
      },
    });
    expect(event?.timestamp_utc).toBe(`${event?.timestamp.replace(' ', 'T')}Z`);
    expect(event?.data['announced_at']).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/);
    expect(await received(HRB)).toEqual([]);
    expect(await storedTypes(IEX)).toEqual(['package.created', 'prealert.received']);
  });

  test('stores and sends nothing that the courier has not chosen', async () => {
    await choose(HRB, ...ALL);
    const number = newNumber();
    await announce(number);
    await parcels().receive(number);
    expect((await received(IEX)).map(({ type }) => type)).toEqual(['package.created']);
    expect(await storedTypes(IEX)).toEqual(['package.created']);
  });

  test('package events have the pre-alert and the reference', async () => {
    const number = newNumber();
    const prealert_id = await announce(number);
    const package_id = await parcels().receive(number);
    await api.as('warehouse').recordPackageEvent({ package_id, status: 'on_hold' }).ok();
    const named = { package_id, prealert_id, reference: `ORDER ${number}` };
    const [created, held] = await received(IEX);
    expect(created).toMatchObject({ type: 'package.created', data: named });
    expect(created?.data['entry_date_time_utc']).toBe(
      `${String(created?.data['entry_date_time']).replace(' ', 'T')}Z`,
    );
    expect(held).toMatchObject({ type: 'package.status_changed', data: named });
    expect(held?.data['occurred_at_utc']).toBe(`${String(held?.data['occurred_at']).replace(' ', 'T')}Z`);
  });

  test('a parcel that two couriers announced is flagged for both, without the package, and then claimed by one', async () => {
    await choose(IEX, ...ALL);
    await choose(HRB, ...ALL);
    const number = newNumber();
    const ids = { iex: await announce(number), hrb: await parcels().announce('HRB', number) };
    const package_id = await parcels().receive(number);
    await api
      .as('warehouse')
      .reviewParcelClaim({ action: 'resolve', prealert_id: ids.iex, reason: REASON })
      .ok();
    const [flagged, claimed, ...more] = await prealertsOf(IEX);
    expect(more).toEqual([]);
    const none = { package_id: null, house_number: null };
    expect(flagged).toMatchObject({
      type: 'prealert.flagged',
      data: { prealert_id: ids.iex, status: 'flagged', ...none },
    });
    expect(claimed).toMatchObject({
      type: 'prealert.claimed',
      data: { prealert_id: ids.iex, status: 'received', package_id },
    });
    expect((await prealertsOf(HRB)).map(({ type, data }) => [type, data])).toMatchObject([
      ['prealert.flagged', { prealert_id: ids.hrb, status: 'flagged', ...none }],
      ['prealert.reopened', { prealert_id: ids.hrb, status: 'pending', ...none }],
    ]);
  });

  test('a review without a package reopens the pre-alert, and one with a package claims it', async () => {
    await choose(IEX, ...ALL);
    const number = newNumber();
    const prealert_id = await announce(number);
    await parcels().announce('HRB', number);
    await parcels().receive(number);
    await api.as('warehouse').reviewPrealert({ prealert_id, reason: REASON }).ok();
    const other = newNumber();
    const contested = await announce(other);
    await parcels().announce('HRB', other);
    await parcels().receive(other);
    await api.as('warehouse').reviewPrealert({ prealert_id: contested, reason: REASON, assign: true }).ok();
    expect((await prealertsOf(IEX)).map(({ type, data }) => [type, data['prealert_id']])).toEqual([
      ['prealert.flagged', prealert_id],
      ['prealert.reopened', prealert_id],
      ['prealert.flagged', contested],
      ['prealert.claimed', contested],
    ]);
  });

  test('an approved claim of a parcel claims the pre-alert of the same customer', async () => {
    await choose(IEX, ...ALL);
    const number = newNumber();
    await parcels().receive(number);
    const claim_id = await insertClaim(service().owner, { courierId: IEX, trackingNumber: number });
    const prealert_id = await announce(number);
    await api.as('warehouse').reviewParcelClaim({ action: 'approve', claim_id, reason: REASON }).ok();
    expect((await prealertsOf(IEX)).map(({ type, data }) => [type, data['prealert_id']])).toEqual([
      ['prealert.claimed', prealert_id],
    ]);
  });

  test('a later scan flags the pre-alert of another courier once, and says nothing to the owner', async () => {
    await choose(IEX, ...ALL);
    await choose(HRB, ...ALL);
    const number = newNumber();
    await announce(number);
    await parcels().receive(number);
    const prealert_id = await parcels().announce('HRB', number);
    await parcels().scan(number);
    await parcels().scan(number);
    expect((await prealertsOf(HRB)).map(({ type, data }) => [type, data])).toMatchObject([
      ['prealert.flagged', { prealert_id, package_id: null }],
    ]);
    expect((await prealertsOf(IEX)).map(({ type }) => type)).toEqual(['prealert.received']);
  });

  test('a corrected number and a voided receipt reopen the pre-alert', async () => {
    await choose(IEX, ...ALL);
    const [number, corrected] = [newNumber(), newNumber()];
    const first = await announce(number);
    const second = await announce(corrected);
    const packageId = await parcels().receive(number);
    await parcels().update('admin', packageId, { tracking_number: corrected });
    await api.as('admin').voidReceipt({ package_id: packageId, reason: 'Another parcel.' }).ok();
    expect((await prealertsOf(IEX)).map(({ type, data }) => [type, data['prealert_id']])).toEqual([
      ['prealert.received', first],
      ['prealert.reopened', first],
      ['prealert.received', second],
      ['prealert.reopened', second],
    ]);
  });

  test('a customer that is named later receives the pre-alert of the number', async () => {
    await choose(IEX, ...ALL);
    const number = newNumber();
    const packageId = await parcels().receive(number, { courier_id: IEX });
    const prealert_id = await announce(number);
    expect(await prealertsOf(IEX)).toEqual([]);
    await parcels().update('iex', packageId, { user_code: CUSTOMERS.IEX });
    expect((await prealertsOf(IEX)).map(({ type, data }) => [type, data])).toMatchObject([
      ['prealert.received', { prealert_id, package_id: packageId }],
    ]);
  });

  test('a pre-alert that disagrees with the customer at intake is flagged, and does not name the package of its courier', async () => {
    await choose(IEX, ...ALL);
    const number = newNumber();
    const prealert_id = await announce(number);
    const packageId = await parcels().receive(number, { user_code: 'IEX-1002' });
    expect(await db.package(packageId)).toMatchObject({ courier_id: IEX, user_code: null });
    expect((await prealertsOf(IEX)).map(({ type, data }) => [type, data])).toMatchObject([
      ['prealert.flagged', { prealert_id, package_id: null, house_number: null }],
    ]);
  });
});

describe('package records', () => {
  test('have the pre-alert, the reference and times with a zone', async () => {
    const number = newNumber();
    const prealert_id = await announce(number);
    const package_id = await parcels().receive(number);
    const named = { package_id, prealert_id, reference: `ORDER ${number}` };
    const list = await api.as('iex').listPackages({ trackingNumber: number }).ok();
    const [record] = list.data as { entry_date_time: string; entry_date_time_utc: string }[];
    expect(record).toMatchObject(named);
    expect(record?.entry_date_time_utc).toBe(`${record?.entry_date_time.replace(' ', 'T')}Z`);
    const { data } = await api.as('iex').getPackage({ package: package_id }).ok();
    expect(data).toMatchObject({ ...named, entry_date_time_utc: record?.entry_date_time_utc });
    expect(data.updated_at_utc).toBe(`${data.updated_at.replace(' ', 'T')}Z`);
  });

  test('and events hide the pre-alert from the courier while the customer is unknown', async () => {
    const number = newNumber();
    const prealert_id = await announce(number);
    await db.query('update customers set is_active = false where user_code = $1', [CUSTOMERS.IEX]);
    const package_id = await parcels().receive(number);
    await db.query('update customers set is_active = true where user_code = $1', [CUSTOMERS.IEX]);
    expect(await db.package(package_id)).toMatchObject({ user_code: null, prealert_id });
    const hidden = { package_id, prealert_id: null, reference: null };
    const [created] = await received(IEX);
    expect(created).toMatchObject({ type: 'package.created', data: hidden });
    const find = async (as: string) =>
      (
        await api
          .as(as)
          .listPackages({ houseNumber: String(created?.data['house_number']) })
          .ok()
      ).data;
    expect(await find('iex')).toMatchObject([hidden]);
    expect((await api.as('iex').getPackage({ package: package_id }).ok()).data).toMatchObject(hidden);
    expect(await find('warehouse')).toMatchObject([{ prealert_id, reference: `ORDER ${number}` }]);
  });
});
