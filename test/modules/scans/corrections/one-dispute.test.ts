import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { deviceScan, sendScans, type DeviceScan } from '../../../support/scans/device-scans.js';
import { startService, type Service } from '../../../support/service/service.js';

// A dispute is shown by every operation, whichever symbol of the parcel is scanned, and only a review ends it (decision 0089).

let service: Service;
let parcels: ReturnType<typeof makeParcels>;

beforeAll(async () => {
  service = await startService({ poolSize: 20 });
  parcels = makeParcels(service);
});

afterAll(async () => {
  await service.stop();
});

/** Gives the rows of earlier tests other keys. */
beforeEach(async () => {
  await service.owner.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text), held as (delete from scans),
       places as (delete from parcel_positions), flags as (delete from prealert_flags)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  );
});

const LABEL = '1001921334250001800354779017972697';
const SHORT = '779017972697';
const BOTH = `${LABEL}\r\n${SHORT}`;

const resolve = async (scan: string) =>
  (await service.call('resolveScan', { as: 'warehouse', body: { scan } })).body['data'];

const remove = (prealertId: string, as: string) =>
  service.call('deletePrealert', { as, body: { prealert_id: prealertId } });

/** What ResolveScan, ReceivePackage and ScanBatch say of a parcel, the last one also of a scan that is sent again. */
async function shownBy(scan: string, again: DeviceScan) {
  const flags = [];
  for (const sent of [deviceScan('locate', scan, 5, { location: 'A1' }), again]) {
    const { results } = await sendScans(service, [sent]);
    flags.push(results[0].parcel.flagged);
  }
  return [(await resolve(scan)).next, (await parcels.scan(scan)).body['data'].flagged, ...flags];
}

describe.each([
  ['the 12 digits received, the label announced', SHORT, LABEL],
  ['the label received, the 12 digits announced', LABEL, SHORT],
])('a dispute: %s', (_name, received, announced) => {
  test.each([
    ['the scan of the label', LABEL],
    ['the scan of the 12 digits', SHORT],
    ['the scan of both symbols', BOTH],
  ])('is shown for every symbol after %s', async (_first, first) => {
    const house = String((await parcels.scan(received, { user_code: 'IEX-1001' })).body['data'].house_number);
    const again = deviceScan('locate', house, 9, { location: 'A1' });
    await sendScans(service, [again]);
    await parcels.announce('HRB', announced);
    await parcels.scan(first);
    const shown = [];
    for (const scan of [LABEL, SHORT, BOTH, house]) shown.push(await shownBy(scan, again));
    expect(shown).toEqual(Array(4).fill(['review', true, true, true]));
  });

  test('is shown for every symbol if the courier announces again what it has deleted', async () => {
    const house = String((await parcels.scan(received, { user_code: 'IEX-1001' })).body['data'].house_number);
    const again = deviceScan('locate', house, 9, { location: 'A1' });
    await sendScans(service, [again]);
    const prealert = await parcels.announce('HRB', announced);
    await parcels.scan(received);
    await remove(prealert, 'hrb');
    await parcels.announce('HRB', announced);
    const shown = [];
    for (const scan of [LABEL, SHORT, BOTH, house]) shown.push(await shownBy(scan, again));
    expect(shown).toEqual(Array(4).fill(['review', true, true, true]));
  });
});

describe('a flag', () => {
  test.each([
    ['intake', (number: string) => parcels.scan(number)],
    ['intake with the customer', (number: string) => parcels.scan(number, { user_code: 'IEX-1001' })],
    [
      'a scan of a station',
      (number: string) => sendScans(service, [deviceScan('receive', number, 5, { weight: 1 })]),
    ],
    [
      'a corrected number',
      async (number: string) => {
        const id = await parcels.receive(newNumber(), { user_code: 'IEX-1001' });
        return parcels.update('warehouse', id, { tracking_number: number });
      },
    ],
  ])('is not cleared by %s, as ResolveScan has said', async (_name, act) => {
    const number = newNumber();
    const ours = await parcels.announce('IEX', number);
    const theirs = await parcels.announce('HRB', number);
    const id = await parcels.receive(number);
    await parcels.update('warehouse', id, { tracking_number: newNumber() });
    await remove(theirs, 'hrb');
    expect(await resolve(number)).toMatchObject({ next: 'review', owner: null });
    await act(number);
    expect(await parcels.statusOf(ours)).toBe('flagged');
    expect(await resolve(number)).toMatchObject({ next: 'review' });
    const matched = await parcels.select('select 1 from packages where prealert_id = $1', [ours]);
    expect(matched).toEqual([]);
  });

  test('that a review has cleared lets intake store the owner', async () => {
    const number = newNumber();
    const ours = await parcels.announce('IEX', number);
    const theirs = await parcels.announce('HRB', number);
    const id = await parcels.receive(number);
    await parcels.update('warehouse', id, { tracking_number: newNumber() });
    await remove(theirs, 'warehouse');
    const body = { prealert_id: ours, reason: 'Looked.' };
    expect((await service.call('reviewPrealert', { as: 'warehouse', body })).status).toBe(200);
    expect((await parcels.scan(number)).body['data']).toMatchObject({
      user_code: 'IEX-1001',
      prealert_id: ours,
      flagged: false,
    });
  });
});

describe('two symbols of one parcel in one scan', () => {
  test('receive an unknown parcel', async () => {
    const { status, body } = await parcels.scan(BOTH);
    expect(status).toBe(201);
    const { package_id: id } = body['data'];
    for (const scan of [LABEL, SHORT, BOTH, `${SHORT}\n${LABEL}`])
      expect((await parcels.scan(scan)).body['data']).toMatchObject({ package_id: id, duplicate: true });
  });

  test.each([
    ['the label', LABEL],
    ['the 12 digits', SHORT],
  ])('find the pre-alert of %s', async (_name, announced) => {
    await parcels.announce('IEX', announced);
    expect(await resolve(BOTH)).toMatchObject({
      kind: 'parcel',
      next: 'receive',
      owner: { user_code: 'IEX-1001' },
    });
    expect((await parcels.scan(BOTH)).body['data']).toMatchObject({ user_code: 'IEX-1001' });
  });

  test('and a third number with a right check digit are refused', async () => {
    await parcels.announce('IEX', LABEL);
    expect((await parcels.scan(`${BOTH}\n1Z5R89390357567127`)).status).toBe(400);
    expect(await resolve(`${BOTH}\n1Z5R89390357567127`)).toMatchObject({ kind: 'several_numbers' });
  });
});
