import { beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { setWebhookUrls } from '../../../support/receivers/outbound.js';
import { deviceScan, receiptScan, sendScan, sendScans } from '../../../support/scans/device-scans.js';
import { makeFamily } from '../../../support/scans/related-numbers.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

const { IEX, HRB } = DEMO.couriers;
const REASON = 'The number of the shelf was scanned.';

const { api, db, service } = withService();
const { announce, receive, resolve } = makeScanCalls(api);
beforeAll(() => setWebhookUrls(service().owner, [IEX, HRB]), 60_000);

const voidReceipt = (package_id: string, as = 'warehouse') =>
  api.as(as).voidReceipt({ package_id, reason: REASON });

async function receiveFor(user_code: string | undefined, number = newNumber()) {
  const { data } = await receive(number, user_code === undefined ? {} : { user_code }).created();
  return { number, id: data.package_id };
}

const ROWS = ['package_events', 'package_syncs', 'package_weights', 'label_jobs'] as const;

describe('a voided receipt', () => {
  test('leaves nothing of the package but the audit trail, and the number can be received again', async () => {
    const number = newNumber();
    const { id } = await receiveFor('IEX-1001', number);
    await api.as('warehouse').updatePackage({ package_id: id, weight: 3 }).ok();
    await api
      .as('warehouse')
      .createLabelJobs({ print_id: randomUUID(), station: 'Dock 1', package_ids: [id] })
      .ok();
    await sendScan(api, deviceScan('locate', number, 0, { location: 'Shelf 3' }));
    const reply = await voidReceipt(id).ok();
    expect(reply.data).toEqual({ package_id: id, tracking_number: number, reopened_prealerts: 0 });
    expect(reply.message).toBe(`The receipt of ${number} is void.`);
    await api.as('warehouse').getPackage({ package: id }).refused(404, 'package_not_found');
    for (const table of ROWS) expect(await db.count(table, { package_id: id })).toBe(0);
    expect(await db.count('parcel_positions', { parcel_key: number })).toBe(0);
    expect((await db.auditOf(id)).at(-1)).toMatchObject({
      action: 'package.voided',
      actor_id: DEMO.users.warehouse,
      remarks: REASON,
      before: { tracking_number: number, user_code: 'IEX-1001', weight_lb: '3.000', status: 'received' },
      after: null,
    });
    const again = await receiveFor('HRB-2001', number);
    expect(again.id).not.toBe(id);
    expect(await db.package(again.id)).toMatchObject({ courier_id: HRB, weight_lb: '1.000' });
    expect(await db.count('parcel_positions', { parcel_key: number })).toBe(0);
  });

  test('keeps the tallies of couriers right', async () => {
    const tallies = () =>
      db.query(
        'select courier_id, sum(total)::int n, sum(weight_lb) w from package_tallies group by 1 order by 1',
      );
    const before = await tallies();
    for (const code of ['IEX-1001', undefined]) await voidReceipt((await receiveFor(code)).id).ok();
    expect(await tallies()).toEqual(before);
  });

  test('sets the pre-alerts of the parcel to pending: the received one, and those that a scan has flagged', async () => {
    const number = newNumber();
    const own = await announce(number);
    const { id } = await receiveFor('IEX-1001', number);
    const rival = await announce(number, 'HRB-2001');
    // The second scan finds the dispute.
    await receive(number).ok();
    expect([(await db.prealert(own)).status, (await db.prealert(rival)).status]).toEqual([
      'received',
      'flagged',
    ]);
    const { data, message } = await voidReceipt(id).ok();
    expect(data.reopened_prealerts).toBe(2);
    expect(message).toContain('2 pre-alerts are pending again.');
    for (const prealert of [own, rival]) {
      expect(await db.prealert(prealert)).toMatchObject({ status: 'pending', tracking_key: number });
      expect((await db.auditOf(prealert)).at(-1)).toMatchObject({
        action: 'prealert.reopened',
        after: { status: 'pending' },
      });
    }
    // With only one announcement left, the next receipt belongs to its customer again.
    await api.as('hrb').deletePrealert({ prealert_id: rival }).ok();
    const again = await receive(number).created();
    expect(again.data).toMatchObject({ user_code: 'IEX-1001', prealert_id: own });
  });

  test('forgets that a courier took a flagged pre-alert off its list', async () => {
    const number = newNumber();
    const { id } = await receiveFor('IEX-1001', number);
    const rival = await announce(number, 'HRB-2001');
    await receive(number).ok();
    await api.as('hrb').deletePrealert({ prealert_id: rival }).ok();
    expect(await db.count('prealert_flags', { tracking_key: number })).toBe(1);
    await voidReceipt(id).ok();
    const again = await announce(number, 'HRB-2001');
    expect((await db.prealert(again)).status).toBe('pending');
  });

  test('takes nothing from another package whose number ends in the same digits', async () => {
    const { short, one, two } = makeFamily();
    const mine = await receiveFor('IEX-1001', one);
    const other = await announce(two);
    const kept = await receiveFor('IEX-1001', two);
    const rival = await announce(two, 'HRB-2001');
    await receive(two).ok();
    await sendScan(api, deviceScan('locate', two, 0, { location: 'Shelf 4' }));
    // An earlier release could give a package the number that is a part of another one.
    const part = await receiveFor(undefined);
    await db.query('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [
      part.id,
      short,
    ]);
    const ofPart = await announce(newNumber(), 'HRB-2001');
    await db.query("update prealerts set tracking_key = $2, status = 'flagged' where id = $1", [
      ofPart,
      short,
    ]);
    await voidReceipt(mine.id).ok();
    expect((await db.prealert(ofPart)).status).toBe('flagged');
    expect([(await db.prealert(other)).status, (await db.prealert(rival)).status]).toEqual([
      'received',
      'flagged',
    ]);
    expect(await db.one('parcel_positions', { parcel_key: two })).toMatchObject({ location: 'Shelf 4' });
    expect(await db.count('scans', { parcel_key: two, voided_at: null })).toBe(1);
    expect((await db.package(kept.id)).prealert_id).toBe(other);
  });

  test('is told to the courier of the package, with what it was, and to nobody else', async () => {
    const { id, number } = await receiveFor('IEX-1001');
    await voidReceipt(id).ok();
    const [, event, ...others] = await db.eventsOf(id);
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      courier_id: IEX,
      type: 'package.updated',
      data: { package_id: id, tracking_number: number, weight: 1 },
    });
    expect(
      await db.query('select endpoint from webhook_deliveries where event_id = $1', [event?.id]),
    ).toEqual([{ endpoint: 'update_package' }]);
    const feed = await api
      .as('iex')
      .listEvents({ after: Number(event?.sequence) - 1 })
      .ok();
    expect(feed.data[0]).toMatchObject({
      type: 'package.updated',
      data: { voided_at: expect.any(String), package_id: id },
    });
    const nobodys = await receiveFor(undefined);
    await voidReceipt(nobodys.id).ok();
    expect(await db.eventsOf(nobodys.id)).toEqual([]);
  });

  test('masks the number if the customer is unknown', async () => {
    const number = newNumber();
    const { data } = await receive(number, { courier_id: IEX }).created();
    await voidReceipt(data.package_id).ok();
    const [event] = await db.eventsOf(data.package_id, 'package.updated');
    expect(event?.data).toMatchObject({ tracking_number: expect.stringMatching(/^\*+/) });
  });
});

describe('a station that sends scans of a voided receipt again', () => {
  test('receives nothing, and learns why; a new scan receives the parcel with its own weight', async () => {
    const number = newNumber();
    const [first, place] = [
      receiptScan(number, 20),
      deviceScan('locate', number, 10, { location: 'Shelf 9' }),
    ];
    const { results } = await sendScans(api, [first, place]);
    await voidReceipt(String(results[0]?.parcel?.package_id)).ok();
    for (const scan of [first, place])
      expect(await sendScan(api, scan)).toMatchObject({
        result: 'refused',
        outcome: null,
        reason: 'receipt_voided',
        parcel: null,
      });
    expect(await db.packagesWithNumber(number)).toEqual([]);
    expect(await sendScan(api, { ...first, weight: 99 })).toMatchObject({
      result: 'refused',
      reason: 'id_reused',
    });
    // Earlier than the voided one, as a device with a slow clock sends it.
    const fresh = await sendScan(api, receiptScan(number, 60, { weight: 7 }));
    expect(fresh).toMatchObject({ result: 'done', parcel: { weight: 7, location: null } });
    expect(await sendScan(api, first)).toMatchObject({ result: 'refused', reason: 'receipt_voided' });
    expect((await db.package(String(fresh.parcel?.package_id))).weight_lb).toBe('7.000');
    expect((await resolve(number)).matches.packages.map(({ package_id }) => package_id)).toEqual([
      fresh.parcel?.package_id,
    ]);
  });

  test('a parcel with 500 voided scans has room for new ones', async () => {
    const number = newNumber();
    const scans = Array.from({ length: 500 }, (_, n) =>
      deviceScan('locate', number, n, { location: `Shelf ${n}` }),
    );
    const { id } = await receiveFor('IEX-1001', number);
    await sendScans(api, scans);
    expect(await sendScan(api, receiptScan(number, 0))).toMatchObject({ reason: 'too_many_scans' });
    await voidReceipt(id).ok();
    expect(await sendScan(api, receiptScan(number, 0))).toMatchObject({ result: 'done' });
  });
});
