import { expect, test } from '@jest/globals';
import { withService } from '../../support/fixture/with-service.js';
import {
  deviceScan,
  newScanNumber,
  receiptScan,
  receivedParcel,
  sendScan,
  sendScans,
} from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// Scans are executed in the order of their times, whenever they arrive (decision 0061).

const { api, db } = withService();
const { receive, renumber } = makeScanCalls(api);
const manifests = makeManifests(api);

const newNumber = () => newScanNumber('ORDER');

const send = async (...scans: unknown[]) => (await sendScans(api, scans)).results;
const packageOf = (number: string) => db.one('packages', { tracking_number: number });

test('scans that arrive before the receipt wait for it, and are then executed in their order', async () => {
  const number = newNumber();
  const { id: manifest_id } = await manifests.ready();
  const early = [
    deviceScan('load', number, 20, { manifest_id }),
    deviceScan('hold', number, 30),
    deviceScan('deliver', number, 10, { remarks: 'At the desk' }),
    deviceScan('locate', number, 25, { location: 'A' }),
  ];
  for (const scan of early)
    expect(await sendScan(api, scan)).toMatchObject({ result: 'conflict', reason: 'not_received' });
  const received = await sendScan(api, receiptScan(number, 40));
  expect(received).toMatchObject({ result: 'done', parcel: { status: 'delivered', location: 'A' } });
  const again = await send(...early);
  expect(again.map(({ outcome }) => outcome)).toEqual(['conflict', 'done', 'done', 'done']);
  const events = await db.query(
    'select status, remarks from package_events where package_id = $1 order by place',
    [receivedParcel(received).package_id],
  );
  expect(events).toEqual([
    { status: 'received', remarks: null },
    { status: 'on_hold', remarks: null },
    { status: 'delivered', remarks: 'At the desk' },
  ]);
});

test('the earliest receive scan makes the receipt, whenever it arrives', async () => {
  const number = newNumber();
  const late = receiptScan(number, 10, { weight: 3, shipper: 'Late' });
  await send(late);
  const early = receiptScan(number, 20, { weight: 4, shipper: 'Early' });
  expect(await sendScan(api, early)).toMatchObject({ result: 'done' });
  expect(await sendScan(api, late)).toMatchObject({
    result: 'repeated',
    outcome: 'conflict',
    reason: 'already_received',
  });
  expect(await packageOf(number)).toMatchObject({ weight_lb: '4.000', shipper: 'Early' });
});

test('an earlier receive scan leaves a field as staff have changed it', async () => {
  const number = newNumber();
  const { package_id } = receivedParcel(await sendScan(api, receiptScan(number, 20, { shipper: 'Early' })));
  await api.as('warehouse').updatePackage({ package_id, weight: 7 }).ok();
  await send(receiptScan(number, 30, { weight: 5, shipper: 'Earliest' }));
  expect(await packageOf(number)).toMatchObject({ weight_lb: '7.000', shipper: 'Earliest' });
});

test('ReceivePackage keeps its receipt', async () => {
  const number = newNumber();
  await receive(number).created();
  expect(await sendScan(api, receiptScan(number, 3_600))).toMatchObject({
    result: 'conflict',
    reason: 'already_received',
  });
  expect(await packageOf(number)).toMatchObject({ weight_lb: '1.000' });
});

test('ReceivePackage executes the scans that have waited for it', async () => {
  const number = newNumber();
  const { id: manifest_id } = await manifests.ready();
  const early = [
    deviceScan('hold', number, 20),
    deviceScan('load', number, 10, { manifest_id }),
    deviceScan('locate', number, 10, { location: 'C' }),
  ];
  await send(...early);
  const received = await receive(number).created();
  expect(received.data).toMatchObject({ status: 'on_hold', duplicate: false });
  const again = await send(...early);
  expect(again.map(({ reason }) => reason)).toEqual([null, 'on_hold', null]);
  expect(await packageOf(number)).toMatchObject({ status: 'on_hold' });
});

test('scans and the place follow a package whose number is corrected', async () => {
  const [wrong, right] = [newNumber(), newNumber()];
  const [received] = await send(receiptScan(wrong, 60), deviceScan('locate', wrong, 50, { location: 'D' }));
  const { package_id } = receivedParcel(received);
  await renumber(package_id, right).ok();
  expect(await sendScan(api, deviceScan('hold', right, 40))).toMatchObject({
    result: 'done',
    parcel: { package_id, location: 'D' },
  });
});

test('a late scan does not override a newer event of staff', async () => {
  const number = newNumber();
  const { package_id } = receivedParcel(await sendScan(api, receiptScan(number, 100)));
  const hold = deviceScan('hold', number, 50);
  await api.as('warehouse').recordPackageEvent({ package_id, status: 'returned' }).ok();
  expect(await sendScan(api, hold)).toMatchObject({ result: 'done', parcel: { status: 'returned' } });
});

test('a scan of a clock that is ahead does not undo what staff did later', async () => {
  const number = newNumber();
  const { package_id } = receivedParcel(await sendScan(api, receiptScan(number, 100)));
  await send(deviceScan('hold', number, -3_600));
  await api.as('warehouse').recordPackageEvent({ package_id, status: 'released' }).ok();
  const located = await sendScan(api, deviceScan('locate', number, 0, { location: 'B' }));
  expect(located.parcel).toMatchObject({ status: 'received', location: 'B' });
});
