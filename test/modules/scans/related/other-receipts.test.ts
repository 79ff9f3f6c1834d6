import { expect, test } from '@jest/globals';
import { withService } from '../../../support/fixture/with-service.js';
import {
  deviceScan,
  newScanNumber,
  receiptScan,
  receivedParcel,
  sendScans,
} from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

// Two people have weighed one parcel. The earliest scan counts (decision 0061), and both are told of the other one.

const { api } = withService();
const { receive } = makeScanCalls(api);
const newNumber = () => newScanNumber('OTHER');

const sendAs = async (as: string, station: string, ...scans: unknown[]) =>
  (await sendScans(api, scans, { as, station })).results;
const historyOf = async (packageId: string) =>
  (await api.as('manager').listPackageEvents({ package_id: packageId }).ok()).data.events;

test('an earlier receive scan that arrives later names the one whose weight it replaces, and that one names it', async () => {
  const number = newNumber();
  const late = receiptScan(number, 10, { weight: 3.3 });
  const [first] = await sendAs('manager', 'Desk', late);
  expect(first).toMatchObject({ result: 'done', parcel: { weight: 3.3 }, other_receipt: null });
  const early = receiptScan(number, 60, { weight: 9.5 });
  const [second] = await sendAs('warehouse', 'Dock 1', early);
  const lateTime = late.scanned_at.slice(0, 19);
  expect(second).toMatchObject({
    result: 'done',
    parcel: { weight: 9.5 },
    other_receipt: { weight: 3.3, scanned_at: lateTime, station: 'Desk', user_name: 'Demo Manager' },
  });
  const [again] = await sendAs('manager', 'Desk', late);
  expect(again).toMatchObject({
    result: 'repeated',
    reason: 'already_received',
    parcel: { weight: 9.5 },
    other_receipt: { weight: 9.5, station: 'Dock 1', user_name: 'Demo Warehouse' },
  });
});

test('the history has the change of the weight, and the status and later scans are not affected', async () => {
  const number = newNumber();
  const [first] = await sendAs('manager', 'Desk', receiptScan(number, 10, { weight: 3.3 }));
  const { package_id } = receivedParcel(first);
  await sendAs('manager', 'Desk', deviceScan('hold', number, 5));
  await sendAs('warehouse', 'Dock 1', receiptScan(number, 60, { weight: 9.5 }));
  const [held] = await sendAs('manager', 'Desk', deviceScan('locate', number, 1, { location: 'A' }));
  expect(held?.parcel).toMatchObject({ status: 'on_hold', weight: 9.5, location: 'A' });
  const events = await historyOf(package_id);
  expect(events.map(({ source, previous_status, status }) => [source, previous_status, status])).toEqual([
    ['intake', null, 'received'],
    ['recorded', 'received', 'on_hold'],
    ['intake', null, 'on_hold'],
  ]);
  expect(events[2]).toMatchObject({
    remarks: 'The weight changed from 3.3 lb to 9.5 lb: an earlier scan of the receipt arrived later.',
    weight_change: { previous_weight: 3.3, weight: 9.5 },
    recorded_by: 'Demo Warehouse',
  });
  expect(events.slice(0, 2).map(({ weight_change }) => weight_change)).toEqual([null, null]);
});

test('a courier sees the weights of a change since the package is its own, and none from before', async () => {
  const [own, later] = [newNumber(), newNumber()];
  const receiveTwice = async (number: string, assign?: (id: string) => Promise<unknown>) => {
    const [first] = await sendAs('manager', 'Desk', receiptScan(number, 10, { weight: 3.3 }));
    const { package_id } = receivedParcel(first);
    await assign?.(package_id);
    await sendAs('warehouse', 'Dock 1', receiptScan(number, 60, { weight: 9.5 }));
    return package_id;
  };
  const toIex = (package_id: string) =>
    api.as('admin').updatePackage({ package_id, user_code: 'IEX-1001' }).ok();
  const changesOf = async (package_id: string, as: string) =>
    (await api.as(as).listPackageEvents({ package_id }).ok()).data.events.flatMap(
      ({ weight_change }) => weight_change ?? [],
    );
  const change = { previous_weight: 3.3, weight: 9.5 };
  const ownId = await receiveTwice(own, toIex);
  expect(await changesOf(ownId, 'iex')).toEqual([change]);
  const laterId = await receiveTwice(later);
  await toIex(laterId);
  expect(await changesOf(laterId, 'iex')).toEqual([]);
  expect(await changesOf(laterId, 'manager')).toEqual([change]);
});

test('a change of the receipt does not hide a hold that is scanned before it and arrives after it', async () => {
  const number = newNumber();
  const [first] = await sendAs('manager', 'Desk', receiptScan(number, 10, { weight: 3.3 }));
  await sendAs('warehouse', 'Dock 1', receiptScan(number, 60, { weight: 9.5 }));
  const [held] = await sendAs('warehouse', 'Dock 1', deviceScan('hold', number, 59));
  expect(held).toMatchObject({ result: 'done', parcel: { status: 'on_hold' } });
  expect(await historyOf(receivedParcel(first).package_id)).toHaveLength(3);
});

test('a scan of the same weight changes nothing in the history', async () => {
  const number = newNumber();
  const [first] = await sendAs('manager', 'Desk', receiptScan(number, 10));
  const [second] = await sendAs('warehouse', 'Dock 1', receiptScan(number, 60));
  expect(second).toMatchObject({ result: 'done', other_receipt: { weight: 2.5 } });
  expect(await historyOf(receivedParcel(first).package_id)).toHaveLength(1);
});

test('other kinds, and a parcel that ReceivePackage received, have no other receive scan', async () => {
  const number = newNumber();
  await receive(number).created();
  const [receipt, place] = await sendAs(
    'warehouse',
    'Dock 1',
    receiptScan(number, 30, { weight: 4 }),
    deviceScan('locate', number, 20, { location: 'A' }),
  );
  expect(receipt).toMatchObject({
    reason: 'already_received',
    other_receipt: null,
    parcel: { weight: 1 },
  });
  expect(place).toMatchObject({ other_receipt: null, parcel: { weight: 1 } });
});
