import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { deviceScan, scanTime, sendScans, type DeviceScan } from '../../support/scans/device-scans.js';
import { rounds } from '../../support/harness/effort.js';
import { startService, type Service } from '../../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

let serials = 0;
const newNumber = () => `FLOOR-${(serials += 1)}-0O1IL`;
const receive = (number: string, secondsAgo: number, fields: object = {}) =>
  deviceScan('receive', number, secondsAgo, { weight: 2.5, ...fields });

const send = async (...scans: unknown[]) => (await sendScans(service, scans)).results;
const CALLERS = rounds(60, 200);

/** Waits until the scans are stored. */
async function untilStored(scans: DeviceScan[]): Promise<void> {
  const ids = scans.map(({ scan_id }) => scan_id);
  for (;;) {
    const { rows } = await service.owner.query('select id from scans where id = any($1)', [ids]);
    if (rows.length === ids.length) return;
    await setTimeout(5);
  }
}

const one = async (scan: unknown) => (await send(scan))[0];

const packageOf = async (number: string) =>
  (
    await service.owner.query(
      'select id, status, weight_lb::text as weight, shipper from packages where tracking_number = $1',
      [number],
    )
  ).rows[0];

async function readyManifest(
  ...packageIds: string[]
): Promise<{ manifest_id: string; manifest_number: string }> {
  const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
  const { manifest_id, manifest_number } = body['data'];
  const manage = (request: object) =>
    service.call('manageManifest', { as: 'warehouse', body: { manifest_id, ...request } });
  if (packageIds.length > 0) await manage({ action: 'add_packages', package_ids: packageIds });
  expect((await manage({ action: 'update_meta', status: 'ready' })).status).toBe(200);
  return { manifest_id, manifest_number };
}

test('a batch receives, locates, holds and loads a parcel, and answers each scan', async () => {
  const number = newNumber();
  const { manifest_number, manifest_id } = await readyManifest();
  const [received, located, loaded] = await send(
    receive(number, 60),
    deviceScan('locate', number, 50, { location: 'Shelf B-12' }),
    deviceScan('load', number, 40, { manifest_number }),
  );
  expect(received).toMatchObject({ result: 'done', outcome: 'done', reason: null, errors: [] });
  expect(received.parcel).toMatchObject({
    status: 'received',
    tracking_number: number,
    location: 'Shelf B-12',
  });
  expect(located.result).toBe('done');
  expect(loaded).toMatchObject({ result: 'conflict', reason: 'other_courier' });
  expect(loaded.parcel.loaded_manifest_id).toBe(manifest_id);
  const [held] = await send(deviceScan('hold', received.parcel.house_number, 30, { remarks: 'Wet' }));
  expect(held).toMatchObject({ result: 'done', parcel: { status: 'on_hold', tracking_number: number } });
  expect((await packageOf(number)).status).toBe('on_hold');
});

test('a scan is executed once, however often it is sent', async () => {
  const number = newNumber();
  const scan = receive(number, 60);
  const first = await one(scan);
  const [again, within, twice] = await send(scan, scan, { ...scan, scan_id: scan.scan_id.toUpperCase() });
  for (const repeated of [again, within, twice])
    expect(repeated).toMatchObject({ result: 'repeated', outcome: 'done', parcel: first.parcel });
  const { rows } = await service.owner.query('select count(*)::int as n from scans where id = $1', [
    scan.scan_id,
  ]);
  expect(rows[0].n).toBe(1);
});

test('refuses an id that is stored with another content, and changes nothing', async () => {
  const number = newNumber();
  const scan = receive(number, 60);
  await one(scan);
  expect(await one({ ...scan, weight: 9 })).toMatchObject({
    result: 'refused',
    reason: 'id_reused',
    parcel: null,
  });
  expect(await packageOf(number)).toMatchObject({ weight: '2.500' });
});

test('a malformed scan is refused with its fields and does not affect the others', async () => {
  const number = newNumber();
  const results = await send(
    receive(number, 60, { weight: -1 }),
    'not a scan',
    { scan_id: randomUUID() },
    { ...receive(number, 60), kind: 'eat' },
    { ...receive(number, 60), scanned_at: '2026-02-30 10:00:00' },
    deviceScan('load', number, 60),
    deviceScan('load', number, 60, { manifest_id: randomUUID() }),
    receive(number, 60, { carrier_id: randomUUID() }),
    receive(number, 60, { courier_id: randomUUID() }),
    receive(number, 60, { warehouse_id: randomUUID() }),
    receive(number, 60, { user_code: 'NOBODY' }),
    receive(number, 50),
  );
  expect(results.map(({ result }: { result: string }) => result)).toEqual([
    ...Array(11).fill('refused'),
    'done',
  ]);
  const fields = results.map(({ errors }: { errors: { field: string }[] }) =>
    errors.map(({ field }) => field),
  );
  expect(fields.map(([field]: string[]) => field)).toEqual([
    ...['weight', 'body', 'kind', 'kind', 'scanned_at', 'manifest_id', 'manifest_id'],
    ...['carrier_id', 'courier_id', 'warehouse_id', 'user_code', undefined],
  ]);
  expect(results[1].scan_id).toBeNull();
});

test('a manifest must be named once', async () => {
  const { manifest_id, manifest_number } = await readyManifest();
  const both = await one(deviceScan('load', newNumber(), 10, { manifest_id, manifest_number }));
  expect(both).toMatchObject({ result: 'refused', errors: [{ field: 'manifest_number', code: 'conflict' }] });
});

test('refuses a scan of a wrong clock, and says what to do', async () => {
  const number = newNumber();
  const ahead = await one(receive(number, -25 * 3_600));
  expect(ahead).toMatchObject({ result: 'refused', reason: 'clock_ahead' });
  expect(ahead.message).toContain('Set the clock of the station');
  expect(await one(receive(number, 91 * 86_400))).toMatchObject({ result: 'refused', reason: 'too_old' });
  expect(await one(receive(number, -23 * 3_600))).toMatchObject({ result: 'done' });
});

test('scans that arrive before the receipt wait for it, and are then executed in their order', async () => {
  const number = newNumber();
  const { manifest_id } = await readyManifest();
  const early = [
    deviceScan('load', number, 20, { manifest_id }),
    deviceScan('hold', number, 30),
    deviceScan('deliver', number, 10, { remarks: 'At the desk' }),
    deviceScan('locate', number, 25, { location: 'A' }),
  ];
  for (const scan of early)
    expect(await one(scan)).toMatchObject({ result: 'conflict', reason: 'not_received' });
  expect(await one(receive(number, 40))).toMatchObject({
    result: 'done',
    parcel: { status: 'delivered', location: 'A' },
  });
  const again = await send(...early);
  expect(again.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
    'conflict',
    'done',
    'done',
    'done',
  ]);
  const { id } = await packageOf(number);
  const { rows } = await service.owner.query(
    'select status, remarks from package_events where package_id = $1 order by place',
    [id],
  );
  expect(rows).toEqual([
    { status: 'received', remarks: null },
    { status: 'on_hold', remarks: null },
    { status: 'delivered', remarks: 'At the desk' },
  ]);
});

test('the earliest receive scan makes the receipt, whenever it arrives, unless staff changed a field', async () => {
  const number = newNumber();
  const late = receive(number, 10, { weight: 3, shipper: 'Late' });
  await one(late);
  expect(await one(receive(number, 20, { weight: 4, shipper: 'Early' }))).toMatchObject({ result: 'done' });
  expect(await one(late)).toMatchObject({
    result: 'repeated',
    outcome: 'conflict',
    reason: 'already_received',
  });
  const { id } = await packageOf(number);
  expect(await packageOf(number)).toMatchObject({ weight: '4.000', shipper: 'Early' });
  await service.call('updatePackage', { as: 'warehouse', body: { package_id: id, weight: 7 } });
  await one(receive(number, 30, { weight: 5, shipper: 'Earliest' }));
  expect(await packageOf(number)).toMatchObject({ weight: '7.000', shipper: 'Earliest' });
});

test('ReceivePackage keeps its receipt', async () => {
  const number = newNumber();
  await service.call('receivePackage', { as: 'warehouse', body: { tracking_number: number, weight: 1 } });
  expect(await one(receive(number, 3_600))).toMatchObject({ result: 'conflict', reason: 'already_received' });
  expect(await packageOf(number)).toMatchObject({ weight: '1.000' });
});

test('ReceivePackage executes the scans that have waited for it', async () => {
  const number = newNumber();
  const { manifest_id } = await readyManifest();
  const early = [
    deviceScan('hold', number, 20),
    deviceScan('load', number, 10, { manifest_id }),
    deviceScan('locate', number, 10, { location: 'C' }),
  ];
  await send(...early);
  const { body } = await service.call('receivePackage', {
    as: 'warehouse',
    body: { tracking_number: number, weight: 1 },
  });
  expect(body['data']).toMatchObject({ status: 'on_hold', duplicate: false });
  const again = await send(...early);
  expect(again.map(({ reason }: { reason: string | null }) => reason)).toEqual([null, 'on_hold', null]);
  expect(await packageOf(number)).toMatchObject({ status: 'on_hold' });
});

test('scans and the place follow a package whose number is corrected', async () => {
  const [wrong, right] = [newNumber(), newNumber()];
  const [{ parcel }] = await send(receive(wrong, 60), deviceScan('locate', wrong, 50, { location: 'D' }));
  const correction = { package_id: parcel.package_id, tracking_number: right };
  expect((await service.call('updatePackage', { as: 'warehouse', body: correction })).status).toBe(200);
  const held = await one(deviceScan('hold', right, 40));
  expect(held).toMatchObject({ result: 'done', parcel: { package_id: parcel.package_id, location: 'D' } });
});

test('an error of the database stores nothing, and the same batch can be sent again', async () => {
  const numbers = [newNumber(), newNumber()];
  const scans = numbers.map((number) => receive(number, 60));
  const name = 'refuse_the_second_parcel';
  await service.owner.query(
    `create function ${name}() returns trigger language plpgsql as $$ begin
       if new.tracking_number = '${numbers[1]}' then raise exception 'broken'; end if; return new; end $$`,
  );
  await service.owner.query(
    `create trigger ${name} before insert on packages for each row execute function ${name}()`,
  );
  const body = { station: 'Dock', scans };
  const broken = await service.call('sendScans', { as: 'warehouse', body });
  await service.owner.query(`drop function ${name}() cascade`);
  expect(broken.status).toBe(500);
  expect(await Promise.all(numbers.map(packageOf))).toEqual([undefined, undefined]);
  expect((await send(...scans)).map(({ result }: { result: string }) => result)).toEqual(['done', 'done']);
});

test('a late scan does not override a newer event of staff', async () => {
  const number = newNumber();
  const { parcel } = await one(receive(number, 100));
  const hold = deviceScan('hold', number, 50);
  await service.call('recordPackageEvent', {
    as: 'warehouse',
    body: { package_id: parcel.package_id, status: 'returned' },
  });
  expect(await one(hold)).toMatchObject({ result: 'done', parcel: { status: 'returned' } });
});

test('a scan of a clock that is ahead does not undo what staff did later', async () => {
  const number = newNumber();
  const { parcel } = await one(receive(number, 100));
  await one(deviceScan('hold', number, -3_600));
  const event = { package_id: parcel.package_id, status: 'released' };
  expect((await service.call('recordPackageEvent', { as: 'warehouse', body: event })).status).toBe(200);
  const located = await one(deviceScan('locate', number, 0, { location: 'B' }));
  expect(located.parcel).toMatchObject({ status: 'received', location: 'B' });
});

test('a receipt by scans matches the pre-alert, notifies the courier and is audited, like ReceivePackage', async () => {
  const number = newNumber();
  const announced = { user_code: 'IEX-1001', tracking_number: number, vendor: 'Example Books' };
  await service.call('createPrealert', { as: 'iex', body: announced });
  const { parcel } = await one(receive(number, 60));
  expect(parcel).toMatchObject({ user_code: 'IEX-1001', flagged: false });
  await one(deviceScan('hold', number, 30));
  const events = await service.owner.query(
    `select type from events where data::text like '%' || $1 || '%' order by sequence`,
    [parcel.package_id],
  );
  expect(events.rows.map(({ type }) => type)).toEqual(['package.created', 'package.status_changed']);
  const audit = await service.owner.query('select action from audit_entries where entity_id = $1', [
    parcel.package_id,
  ]);
  expect(audit.rows.map(({ action }) => action)).toEqual(['package.received', 'package.status_changed']);
});

describe('one station and the other', () => {
  test('two stations that send the same batch at once execute each scan once', async () => {
    const numbers = Array.from({ length: 40 }, newNumber);
    const scans: DeviceScan[] = numbers.flatMap((number) => [
      receive(number, 60),
      deviceScan('hold', number, 30),
    ]);
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => sendScans(service, n % 2 ? scans : [...scans].reverse())),
    );
    expect(replies.reduce((sum, { done }) => sum + done, 0)).toBe(80);
    expect(replies.reduce((sum, { repeated }) => sum + repeated, 0)).toBe(80 * 7);
    const { rows } = await service.owner.query(
      `select count(*)::int as events, count(distinct p.id)::int as packages from packages p
       join package_events e on e.package_id = p.id where p.tracking_number = any($1)`,
      [numbers],
    );
    expect(rows[0]).toEqual({ events: 80, packages: 40 });
  });

  test(`${CALLERS} callers that send one scan at once execute it once`, async () => {
    const scan = receive(newNumber(), 60);
    const replies = await Promise.all(Array.from({ length: CALLERS }, () => sendScans(service, [scan])));
    expect(replies.filter(({ done }) => done === 1)).toHaveLength(1);
    expect(replies.filter(({ repeated }) => repeated === 1)).toHaveLength(CALLERS - 1);
    expect(new Set(replies.map(({ results }) => results[0].parcel.package_id)).size).toBe(1);
  });

  test('a station whose connection was cut before the response sends the batch again and loses nothing', async () => {
    const scans = [receive(newNumber(), 60), receive(newNumber(), 60)];
    const token = await service.tokenOf('warehouse');
    const cut = new AbortController();
    const lost = fetch(`${service.url}/api/ScanBatch.php`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ station: 'Dock', scans }),
      signal: cut.signal,
    });
    // The batch has committed; the station goes away before it has read the response.
    await untilStored(scans);
    cut.abort();
    await lost.then((response) => response.text()).catch(() => undefined);
    const again = await send(...scans);
    expect(again.map(({ result }: { result: string }) => result)).toEqual(['repeated', 'repeated']);
  });

  test('ids of another tenant are free', async () => {
    const scan = { ...receive(newNumber(), 60), scanned_at: scanTime(60) };
    await one(scan);
    const { results } = await sendScans(service, [{ ...scan, weight: 8 }], { as: 'two/admin' });
    expect(results[0]).toMatchObject({ result: 'done' });
  });
});

test('couriers may not send scans', async () => {
  const body = { station: 'Dock', scans: [receive(newNumber(), 1)] };
  expect((await service.call('sendScans', { as: 'iex', body })).status).toBe(403);
});

test('an unreadable envelope is rejected as a whole', async () => {
  const many = Array.from({ length: 501 }, () => receive(newNumber(), 1));
  for (const body of [{ scans: [] }, { station: ' ', scans: [{}] }, { station: 'Dock', scans: many }])
    expect((await service.call('sendScans', { as: 'warehouse', body })).status).toBe(400);
});

// Row-level security and the application's filters must each be sufficient alone.
describe.each([
  ['row-level security alone', { applicationFilters: false }],
  ["the application's filters alone", { rowSecurity: false }],
] as const)('%s', (_name, layer) => {
  let guarded: Service;

  beforeAll(async () => {
    guarded = await startService(layer);
  });

  afterAll(() => guarded.stop());

  test('keeps parcels, manifests and ids of scans in their tenant', async () => {
    const number = newNumber();
    const { body } = await guarded.call('createManifest', { as: 'warehouse', body: {} });
    const { manifest_id, manifest_number } = body['data'];
    const update = { action: 'update_meta', manifest_id, status: 'ready' };
    await guarded.call('manageManifest', { as: 'warehouse', body: update });
    const scans = [
      receive(number, 60),
      deviceScan('locate', number, 50, { location: 'Ours' }),
      deviceScan('load', number, 40, { manifest_id }),
    ];
    const [received] = (await sendScans(guarded, scans)).results;
    const foreign = [
      deviceScan('locate', number, 30, { location: 'Theirs' }),
      deviceScan('hold', received.parcel.house_number, 30),
      deviceScan('load', number, 20, { manifest_number }),
      deviceScan('unload', number, 20, { manifest_id }),
      { ...scans[0], weight: 9 },
    ];
    const { results } = await sendScans(guarded, foreign, { as: 'two/admin' });
    expect(results.map(({ reason }: { reason: string | null }) => reason)).toEqual([
      ...[null, 'not_received', 'invalid', 'invalid', null],
    ]);
    expect(results[0].parcel).toMatchObject({ location: 'Theirs', loaded_manifest_id: null });
    const query = { manifest_id, list: 'history' };
    expect((await guarded.call('getManifestLoading', { as: 'two/admin', query })).status).toBe(404);
    const [ours] = (await sendScans(guarded, [scans[1]])).results;
    expect(ours.parcel).toMatchObject({
      ...{ package_id: received.parcel.package_id, status: 'received' },
      ...{ location: 'Ours', loaded_manifest_id: manifest_id },
    });
  });
});
