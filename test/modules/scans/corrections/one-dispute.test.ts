import { beforeEach, describe, expect, test } from '@jest/globals';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, sendScan, type DeviceScan } from '../../../support/scans/device-scans.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

// A dispute is shown by every operation, whichever symbol of the parcel is scanned, and only a review ends it (decision 0089).

const { api, db } = withService({ poolSize: 20 });
const { announce, receive, renumber, resolve } = makeScanCalls(api);

/** Gives the rows of earlier tests other keys. */
beforeEach(async () => {
  await db.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text), held as (delete from scans),
       places as (delete from parcel_positions), flags as (delete from prealert_flags)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  );
});

const LABEL = '1001921334250001800354779017972697';
const SHORT = '779017972697';
const BOTH = `${LABEL}\r\n${SHORT}`;

const OURS = 'IEX-1001';
const THEIRS = 'HRB-2001';

const remove = (prealert_id: string, as: string) => api.as(as).deletePrealert({ prealert_id }).ok();

/** What ResolveScan, ReceivePackage and ScanBatch say of a parcel, the last one also of a scan that is sent again. */
async function shownBy(scan: string, again: DeviceScan) {
  const flags = [];
  for (const sent of [deviceScan('locate', scan, 5, { location: 'A1' }), again]) {
    flags.push((await sendScan(api, sent)).parcel?.flagged);
  }
  return [(await resolve(scan)).next, (await receive(scan).ok()).data.flagged, ...flags];
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
    const house = (await receive(received, { user_code: OURS }).created()).data.house_number;
    const again = deviceScan('locate', house, 9, { location: 'A1' });
    await sendScan(api, again);
    await announce(announced, THEIRS);
    await receive(first).ok();
    const shown = [];
    for (const scan of [LABEL, SHORT, BOTH, house]) shown.push(await shownBy(scan, again));
    expect(shown).toEqual(Array(4).fill(['review', true, true, true]));
  });

  test('is shown for every symbol if the courier announces again what it has deleted', async () => {
    const house = (await receive(received, { user_code: OURS }).created()).data.house_number;
    const again = deviceScan('locate', house, 9, { location: 'A1' });
    await sendScan(api, again);
    const prealert = await announce(announced, THEIRS);
    await receive(received).ok();
    await remove(prealert, 'hrb');
    await announce(announced, THEIRS);
    const shown = [];
    for (const scan of [LABEL, SHORT, BOTH, house]) shown.push(await shownBy(scan, again));
    expect(shown).toEqual(Array(4).fill(['review', true, true, true]));
  });
});

describe('a flag', () => {
  test.each([
    ['intake', (number: string) => receive(number).created()],
    ['intake with the customer', (number: string) => receive(number, { user_code: OURS }).created()],
    [
      'a scan of a station',
      (number: string) => sendScan(api, deviceScan('receive', number, 5, { weight: 1 })),
    ],
    [
      'a corrected number',
      async (number: string) => {
        const { data } = await receive(newNumber(), { user_code: OURS }).created();
        return renumber(data.package_id, number).ok();
      },
    ],
  ])('is not cleared by %s, as ResolveScan has said', async (_name, act) => {
    const number = newNumber();
    const ours = await announce(number, OURS);
    const theirs = await announce(number, THEIRS);
    const { package_id } = (await receive(number).created()).data;
    await renumber(package_id, newNumber()).ok();
    await remove(theirs, 'hrb');
    expect(await resolve(number)).toMatchObject({ next: 'review', owner: null });
    await act(number);
    expect(await db.prealert(ours)).toMatchObject({ status: 'flagged' });
    expect(await resolve(number)).toMatchObject({ next: 'review' });
    expect(await db.all('packages', { prealert_id: ours })).toEqual([]);
  });

  test('that a review has cleared lets intake store the owner', async () => {
    const number = newNumber();
    const ours = await announce(number, OURS);
    const theirs = await announce(number, THEIRS);
    const { package_id } = (await receive(number).created()).data;
    await renumber(package_id, newNumber()).ok();
    await remove(theirs, 'warehouse');
    await api.as('warehouse').reviewPrealert({ prealert_id: ours, reason: 'Looked.' }).ok();
    expect((await receive(number).created()).data).toMatchObject({
      user_code: OURS,
      prealert_id: ours,
      flagged: false,
    });
  });
});

describe('two symbols of one parcel in one scan', () => {
  test('receive an unknown parcel', async () => {
    const { package_id } = (await receive(BOTH).created()).data;
    for (const scan of [LABEL, SHORT, BOTH, `${SHORT}\n${LABEL}`])
      expect((await receive(scan).ok()).data).toMatchObject({ package_id, duplicate: true });
  });

  test.each([
    ['the label', LABEL],
    ['the 12 digits', SHORT],
  ])('find the pre-alert of %s', async (_name, announced) => {
    await announce(announced, OURS);
    expect(await resolve(BOTH)).toMatchObject({
      kind: 'parcel',
      next: 'receive',
      owner: { user_code: OURS },
    });
    expect((await receive(BOTH).created()).data).toMatchObject({ user_code: OURS });
  });

  test('and a third number with a right check digit are refused', async () => {
    await announce(LABEL, OURS);
    const three = `${BOTH}\n1Z5R89390357567127`;
    await receive(three).refused(400, 'validation_failed');
    expect(await resolve(three)).toMatchObject({ kind: 'several_numbers' });
  });
});
