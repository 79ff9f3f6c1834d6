import { beforeEach, describe, expect, test } from '@jest/globals';
import { newNumber } from '../../../support/builders/parcels.js';
import { withService } from '../../../support/fixture/with-service.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { makeLoading } from '../../../support/scans/loading.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { makeScanCalls } from '../../../support/scans/scan-calls.js';

// Staff correct the number of a package. Scans of stations may have waited for the right number (decision 0089).

const { api, db } = withService({ poolSize: 20 });
const scans = makeScanCalls(api);
const { loadingOf } = makeLoading(api);
const { ready, ship } = makeManifests(api);

/** Gives the rows of earlier tests other keys. */
beforeEach(async () => {
  await db.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text), held as (delete from scans)
     delete from parcel_positions`,
  );
});

const LABEL = '1001921334250001800354779017972697';
const LABEL_NUMBER = '54779017972697';
const SHORT = '779017972697';

const receive = async (number: string): Promise<string> =>
  (await scans.receive(number, { user_code: 'IEX-1001' }).created()).data.package_id;

const correct = (id: string, number: string) => scans.renumber(id, number).ok();

const outcomes = async () => (await db.all('scans')).map(({ kind, outcome }) => `${kind} ${outcome}`).sort();

const positions = () => db.query('select parcel_key, location from parcel_positions');

const send = (...sent: Parameters<typeof deviceScan>[]) =>
  sendScans(
    api,
    sent.map((scan) => deviceScan(...scan)),
  );

const EQUAL = newNumber();

describe('scans that wait for the number', () => {
  test.each([
    ['the same number is entered', EQUAL, EQUAL],
    ['the label was scanned, and the 12 digits of FedEx are entered', LABEL, SHORT],
    ['the 12 digits of FedEx were scanned, and the label is entered', SHORT, LABEL],
    ['the 14 digits of FedEx were scanned, and the 12 are entered', LABEL_NUMBER, SHORT],
  ])('are executed when a package gets it: %s', async (_name, scanned, entered) => {
    await send(['hold', scanned, 20, { remarks: 'Damaged.' }], ['locate', scanned, 10, { location: 'A1' }]);
    const id = await receive(newNumber());
    await correct(id, entered);
    expect(await db.package(id)).toMatchObject({ status: 'on_hold' });
    expect(await outcomes()).toEqual(['hold done', 'locate done']);
    const { tracking_key: key } = await db.package(id);
    expect(await positions()).toEqual([{ parcel_key: key, location: 'A1' }]);
  });

  test('keep a held parcel from being shipped', async () => {
    const number = newNumber();
    await send(['hold', number, 20, { remarks: 'Damaged.' }]);
    const id = await receive(newNumber());
    const manifest = await ready([id], 'on');
    await correct(id, number);
    await ship(manifest.id).ok();
    expect(await db.package(id)).toMatchObject({ status: 'on_hold' });
  });

  test('are executed by the next ReceivePackage if an earlier release has corrected the number', async () => {
    const number = newNumber();
    await send(['hold', number, 20, {}]);
    const id = await receive(newNumber());
    await db.query('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [id, number]);
    expect((await scans.receive(number).ok()).data.status).toBe('on_hold');
    expect(await outcomes()).toEqual(['hold done']);
  });

  test('are executed once if 10 people correct the number while 10 scans of it arrive', async () => {
    const number = newNumber();
    const id = await receive(newNumber());
    const work = Array.from({ length: 10 }, (_, n) => [
      scans.renumber(id, number).answer(),
      send(['hold', number, 60 - n, {}]),
    ]);
    await Promise.all(work.flat());
    expect(await db.package(id)).toMatchObject({ status: 'on_hold' });
    expect(await db.count('package_events', { package_id: id, status: 'on_hold' })).toBe(1);
    expect(await db.all('scans', { reason: 'not_received' })).toEqual([]);
  });
});

describe('the load of a package whose number is corrected', () => {
  const countsOf = async (manifestId: string) => (await loadingOf(manifestId)).data.counts;

  test('counts once if the right number has a place already', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    await send(['locate', number, 60, { location: 'A1' }]);
    const id = await receive(wrong);
    const { id: manifest_id } = await ready([id], 'on');
    await send(['load', wrong, 10, { manifest_id }]);
    await correct(id, number);
    expect(await countsOf(manifest_id)).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 0 });
    await ship(manifest_id).ok();
  });

  test('is the latest movement of both numbers', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    const id = await receive(wrong);
    const { id: manifest_id } = await ready([id], 'on');
    const onto = { manifest_id };
    await send(['load', wrong, 30, onto], ['load', number, 20, onto], ['unload', number, 10, onto]);
    await correct(id, number);
    expect(await countsOf(manifest_id)).toEqual({ expected: 1, loaded: 0, missing: 1, extra: 0 });
  });

  test('stays when its scans are no longer stored', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    await send(['locate', number, 60, { location: 'A1' }]);
    const id = await receive(wrong);
    const { id: manifest_id } = await ready([id], 'on');
    await send(['load', wrong, 10, { manifest_id }]);
    await db.query('delete from scans');
    await correct(id, number);
    expect(await countsOf(manifest_id)).toEqual({ expected: 1, loaded: 1, missing: 0, extra: 0 });
    expect(await positions()).toEqual([{ parcel_key: number, location: 'A1' }]);
  });
});
