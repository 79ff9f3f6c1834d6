import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { rounds } from '../../support/harness/effort.js';
import {
  deviceScan,
  newScanNumber,
  receiptScan,
  receivedParcel,
  scanTime,
  sendScan,
  sendScans,
  type DeviceScan,
} from '../../support/scans/device-scans.js';
import { makeManifests } from '../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';
import { until } from '../../support/service/processes.js';

const CALLERS = rounds(60, 200);

const { api, db, service } = withService();
const { announce } = makeScanCalls(api);
const manifests = makeManifests(api);

const newNumber = () => newScanNumber('FLOOR');

const send = async (...scans: unknown[]) => (await sendScans(api, scans)).results;
const packageOf = (number: string) => db.one('packages', { tracking_number: number });

test('a batch receives, locates, holds and loads a parcel, and answers each scan', async () => {
  const number = newNumber();
  const manifest = await manifests.ready();
  const [received, located, loaded] = await send(
    receiptScan(number, 60),
    deviceScan('locate', number, 50, { location: 'Shelf B-12' }),
    deviceScan('load', number, 40, { manifest_number: manifest.number }),
  );
  expect(received).toMatchObject({ result: 'done', outcome: 'done', reason: null, errors: [] });
  expect(received?.parcel).toMatchObject({
    status: 'received',
    tracking_number: number,
    location: 'Shelf B-12',
  });
  expect(located?.result).toBe('done');
  expect(loaded).toMatchObject({ result: 'conflict', reason: 'other_courier' });
  expect(loaded?.parcel?.loaded_manifest_id).toBe(manifest.id);
  const hold = deviceScan('hold', receivedParcel(received).house_number, 30, { remarks: 'Wet' });
  expect(await sendScan(api, hold)).toMatchObject({
    result: 'done',
    parcel: { status: 'on_hold', tracking_number: number },
  });
  expect(await packageOf(number)).toMatchObject({ status: 'on_hold' });
});

test('a package whose history lacks its status is delivered, and fails no other scan of the batch', async () => {
  const [number, other] = [newNumber(), newNumber()];
  await send(receiptScan(number, 60));
  await db.query("update packages set status = 'shipped' where tracking_number = $1", [number]);
  const results = await send(deviceScan('deliver', number, 30), receiptScan(other, 20));
  expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done']);
  expect(await packageOf(number)).toMatchObject({ status: 'delivered' });
});

test('a scan is executed once, however often it is sent', async () => {
  const scan = receiptScan(newNumber(), 60);
  const first = await sendScan(api, scan);
  const repeated = await send(scan, scan, { ...scan, scan_id: scan.scan_id.toUpperCase() });
  const expected = { result: 'repeated', outcome: 'done', parcel: first.parcel };
  expect(repeated).toMatchObject([expected, expected, expected]);
  expect(await db.count('scans', { id: scan.scan_id })).toBe(1);
});

test('refuses an id that is stored with another content, and changes nothing', async () => {
  const number = newNumber();
  const scan = receiptScan(number, 60);
  await send(scan);
  const before = await db.fingerprint();
  expect(await sendScan(api, { ...scan, weight: 9 })).toMatchObject({
    result: 'refused',
    reason: 'id_reused',
    parcel: null,
  });
  expect(await packageOf(number)).toMatchObject({ weight_lb: '2.500' });
  expect(await db.fingerprint()).toEqual(before);
});

test('a malformed scan is refused with its fields and does not affect the others', async () => {
  const number = newNumber();
  const results = await send(
    receiptScan(number, 60, { weight: -1 }),
    'not a scan',
    { scan_id: randomUUID() },
    { ...receiptScan(number, 60), kind: 'eat' },
    { ...receiptScan(number, 60), scanned_at: '2026-02-30 10:00:00' },
    deviceScan('load', number, 60),
    deviceScan('load', number, 60, { manifest_id: randomUUID() }),
    receiptScan(number, 60, { carrier_id: randomUUID() }),
    receiptScan(number, 60, { courier_id: randomUUID() }),
    receiptScan(number, 60, { warehouse_id: randomUUID() }),
    receiptScan(number, 60, { user_code: 'NOBODY' }),
    receiptScan(number, 50),
  );
  expect(results.map(({ result, errors }) => [result, errors[0]?.field])).toEqual([
    ['refused', 'weight'],
    ['refused', 'body'],
    ['refused', 'kind'],
    ['refused', 'kind'],
    ['refused', 'scanned_at'],
    ['refused', 'manifest_id'],
    ['refused', 'manifest_id'],
    ['refused', 'carrier_id'],
    ['refused', 'courier_id'],
    ['refused', 'warehouse_id'],
    ['refused', 'user_code'],
    ['done', undefined],
  ]);
  expect(results[1]?.scan_id).toBeNull();
});

test('a manifest must be named once', async () => {
  const { id: manifest_id, number: manifest_number } = await manifests.ready();
  const scan = deviceScan('load', newNumber(), 10, { manifest_id, manifest_number });
  expect(await sendScan(api, scan)).toMatchObject({
    result: 'refused',
    errors: [{ field: 'manifest_number', code: 'conflict' }],
  });
});

test('refuses a scan of a wrong clock, and says what to do', async () => {
  const number = newNumber();
  expect(await sendScan(api, receiptScan(number, -25 * 3_600))).toMatchObject({
    result: 'refused',
    reason: 'clock_ahead',
    message: expect.stringContaining('Set the clock of the station'),
  });
  expect(await sendScan(api, receiptScan(number, 91 * 86_400))).toMatchObject({
    result: 'refused',
    reason: 'too_old',
  });
  expect(await sendScan(api, receiptScan(number, -23 * 3_600))).toMatchObject({ result: 'done' });
});

test('an error of the database stores nothing, and the same batch can be sent again', async () => {
  const numbers = [newNumber(), newNumber()];
  const scans = numbers.map((number) => receiptScan(number, 60));
  const name = 'refuse_the_second_parcel';
  await db.query(
    `create function ${name}() returns trigger language plpgsql as $$ begin
       if new.tracking_number = '${numbers[1]}' then raise exception 'broken'; end if; return new; end $$`,
  );
  try {
    await db.query(
      `create trigger ${name} before insert on packages for each row execute function ${name}()`,
    );
    await api
      .as('warehouse')
      .sendScans(unchecked({ station: 'Dock', scans }))
      .refused(500, 'internal_error');
  } finally {
    await db.query(`drop function ${name}() cascade`);
  }
  expect(await db.all('packages', { tracking_number: numbers })).toEqual([]);
  expect((await send(...scans)).map(({ result }) => result)).toEqual(['done', 'done']);
});

test('a receipt by scans matches the pre-alert, notifies the courier and is audited, like ReceivePackage', async () => {
  const number = newNumber();
  await announce(number);
  const received = await sendScan(api, receiptScan(number, 60));
  expect(received.parcel).toMatchObject({ user_code: 'IEX-1001', flagged: false });
  await send(deviceScan('hold', number, 30));
  const { package_id: id } = receivedParcel(received);
  const events = await db.eventsOf(id);
  expect(events.map(({ type }) => type)).toEqual(['package.created', 'package.status_changed']);
  const audit = await db.auditOf(id);
  expect(audit.map(({ action }) => action)).toEqual(['package.received', 'package.status_changed']);
});

describe('one station and the other', () => {
  test('two stations that send the same batch at once execute each scan once', async () => {
    const numbers = Array.from({ length: 40 }, newNumber);
    const scans = numbers.flatMap((number) => [receiptScan(number, 60), deviceScan('hold', number, 30)]);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => sendScans(api, n % 2 ? scans : [...scans].reverse())),
    );
    expect(replies.reduce((sum, { done }) => sum + done, 0)).toBe(80);
    expect(replies.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(80 * 7);
    const packages = await db.all('packages', { tracking_number: numbers });
    expect(packages).toHaveLength(40);
    expect(await db.count('package_events', { package_id: packages.map(({ id }) => id) })).toBe(80);
  });

  test(`${CALLERS} callers that send one scan at once execute it once`, async () => {
    const scan = receiptScan(newNumber(), 60);
    const replies = await Promise.all(Array.from({ length: CALLERS }, () => sendScans(api, [scan])));
    expect(replies.filter(({ done }) => done === 1)).toHaveLength(1);
    expect(replies.filter(({ repeated }) => repeated === 1)).toHaveLength(CALLERS - 1);
    const ids = replies.map(({ results }) => receivedParcel(results[0]).package_id);
    expect(new Set(ids).size).toBe(1);
  });

  test('a station whose connection was cut before the response sends the batch again and loses nothing', async () => {
    const scans = [receiptScan(newNumber(), 60), receiptScan(newNumber(), 60)];
    const token = await service().tokenOf('warehouse');
    const cut = new AbortController();
    const lost = fetch(`${service().url}/api/ScanBatch.php`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ station: 'Dock', scans }),
      signal: cut.signal,
    });
    // The batch has committed; the station goes away before it has read the response.
    const ids = scans.map(({ scan_id }) => scan_id);
    await until(async () => (await db.count('scans', { id: ids })) === ids.length);
    cut.abort();
    await lost.then((response) => response.text()).catch(() => undefined);
    const again = await send(...scans);
    expect(again.map(({ result }) => result)).toEqual(['repeated', 'repeated']);
  });

  test('ids of another tenant are free', async () => {
    const scan = { ...receiptScan(newNumber(), 60), scanned_at: scanTime(60) };
    await send(scan);
    const { results } = await sendScans(api, [{ ...scan, weight: 8 }], { as: 'two/admin' });
    expect(results).toMatchObject([{ result: 'done' }]);
  });
});

test('couriers may not send scans', async () => {
  const body = { station: 'Dock', scans: [receiptScan(newNumber(), 1)] };
  await api.as('iex').sendScans(unchecked(body)).refused(403, 'permission_denied');
});

test('an unreadable envelope is rejected as a whole', async () => {
  const many = Array.from({ length: 501 }, () => receiptScan(newNumber(), 1));
  for (const body of [{ scans: [] }, { station: ' ', scans: [{}] }, { station: 'Dock', scans: many }])
    await api.as('warehouse').sendScans(unchecked(body)).refused(400, 'validation_failed');
});

// Row-level security and the application's filters must each be sufficient alone.
describe.each([
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('%s', (_name, layer) => {
  const guarded = withService(layer).api;

  test('keeps parcels, manifests and ids of scans in their tenant', async () => {
    const number = newNumber();
    const { id: manifest_id, number: manifest_number } = await makeManifests(guarded).ready();
    const located = deviceScan('locate', number, 50, { location: 'Ours' });
    const scans: DeviceScan[] = [
      receiptScan(number, 60),
      located,
      deviceScan('load', number, 40, { manifest_id }),
    ];
    const received = receivedParcel((await sendScans(guarded, scans)).results[0]);
    const foreign = [
      deviceScan('locate', number, 30, { location: 'Theirs' }),
      deviceScan('hold', received.house_number, 30),
      deviceScan('load', number, 20, { manifest_number }),
      deviceScan('unload', number, 20, { manifest_id }),
      { ...scans[0], weight: 9 },
    ];
    const { results } = await sendScans(guarded, foreign, { as: 'two/admin' });
    expect(results.map(({ reason }) => reason)).toEqual([null, 'not_received', 'invalid', 'invalid', null]);
    expect(results[0]?.parcel).toMatchObject({ location: 'Theirs', loaded_manifest_id: null });
    await guarded
      .as('two/admin')
      .getManifestLoading({ manifest_id, list: 'history' })
      .refused(404, 'manifest_not_found');
    expect((await sendScan(guarded, located)).parcel).toMatchObject({
      package_id: received.package_id,
      status: 'received',
      location: 'Ours',
      loaded_manifest_id: manifest_id,
    });
  });
});
