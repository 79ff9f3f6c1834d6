import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeParcels, newNumber } from '../../../support/builders/parcels.js';
import { deviceScan, sendScans } from '../../../support/scans/device-scans.js';
import { startService, type Reply, type Service } from '../../../support/service/service.js';

// Staff correct the number of a package. Scans of stations may have waited for the right number (decision 0089).

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
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text), held as (delete from scans)
     delete from parcel_positions`,
  );
});

const LABEL = '1001921334250001800354779017972697';
const LABEL_NUMBER = '54779017972697';
const SHORT = '779017972697';

const receive = (number: string) => parcels.receive(number, { user_code: 'IEX-1001' });

const correct = async (id: string, tracking_number: string) => {
  const { status } = await parcels.update('warehouse', id, { tracking_number });
  expect(status).toBe(200);
};

const statusOf = async (id: string) => (await parcels.packageRow(id))['status'];

const outcomes = async () =>
  (await parcels.select(`select kind || ' ' || outcome as scan from scans order by 1`)).map(
    ({ scan }) => scan,
  );

const positions = () => parcels.select('select parcel_key, location from parcel_positions');

const send = (...scans: Parameters<typeof deviceScan>[]) =>
  sendScans(
    service,
    scans.map((scan) => deviceScan(...scan)),
  );

const manage = (manifest_id: string, fields: object, as = 'warehouse'): Promise<Reply> =>
  service.call('manageManifest', { as, body: { manifest_id, ...fields } });

async function readyManifest(packageId: string): Promise<string> {
  const { body } = await service.call('createManifest', { as: 'warehouse', body: {} });
  const id = String(body['data'].manifest_id);
  await manage(id, { action: 'add_packages', package_ids: [packageId] });
  const reply = await manage(id, { action: 'update_meta', status: 'ready', loading_gate: 'on' }, 'manager');
  expect(reply.status).toBe(200);
  return id;
}

const ship = (id: string) => manage(id, { action: 'update_meta', status: 'shipped' });

async function loadingOf(manifest_id: string) {
  const reply = await service.call('getManifestLoading', { as: 'warehouse', query: { manifest_id } });
  const { loaded, missing, extra } = reply.body['data'].counts;
  return { loaded, missing, extra };
}

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
    expect(await statusOf(id)).toBe('on_hold');
    expect(await outcomes()).toEqual(['hold done', 'locate done']);
    const { tracking_key: key } = await parcels.packageRow(id);
    expect(await positions()).toEqual([{ parcel_key: key, location: 'A1' }]);
  });

  test('keep a held parcel from being shipped', async () => {
    const number = newNumber();
    await send(['hold', number, 20, { remarks: 'Damaged.' }]);
    const id = await receive(newNumber());
    const manifest = await readyManifest(id);
    await correct(id, number);
    await ship(manifest);
    expect(await statusOf(id)).toBe('on_hold');
  });

  test('are executed by the next ReceivePackage if an earlier release has corrected the number', async () => {
    const number = newNumber();
    await send(['hold', number, 20, {}]);
    const id = await receive(newNumber());
    await parcels.select('update packages set tracking_number = $2, tracking_key = $2 where id = $1', [
      id,
      number,
    ]);
    const { status, body } = await parcels.scan(number);
    expect([status, body['data'].status]).toEqual([200, 'on_hold']);
    expect(await outcomes()).toEqual(['hold done']);
  });

  test('are executed once if 10 people correct the number while 10 scans of it arrive', async () => {
    const number = newNumber();
    const id = await receive(newNumber());
    const work = Array.from({ length: 10 }, (_, n) => [
      parcels.update('warehouse', id, { tracking_number: number }),
      send(['hold', number, 60 - n, {}]),
    ]);
    await Promise.all(work.flat());
    expect(await statusOf(id)).toBe('on_hold');
    const held = `select 1 from package_events where package_id = $1 and status = 'on_hold'`;
    expect(await parcels.select(held, [id])).toHaveLength(1);
    expect(await parcels.select(`select 1 from scans where reason = 'not_received'`)).toEqual([]);
  });
});

describe('the load of a package whose number is corrected', () => {
  test('counts once if the right number has a place already', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    await send(['locate', number, 60, { location: 'A1' }]);
    const id = await receive(wrong);
    const manifest = await readyManifest(id);
    await send(['load', wrong, 10, { manifest_id: manifest }]);
    await correct(id, number);
    expect(await loadingOf(manifest)).toEqual({ loaded: 1, missing: 0, extra: 0 });
    expect((await ship(manifest)).status).toBe(200);
  });

  test('is the latest movement of both numbers', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    const id = await receive(wrong);
    const manifest = await readyManifest(id);
    const onto = { manifest_id: manifest };
    await send(['load', wrong, 30, onto], ['load', number, 20, onto], ['unload', number, 10, onto]);
    await correct(id, number);
    expect(await loadingOf(manifest)).toEqual({ loaded: 0, missing: 1, extra: 0 });
  });

  test('stays when its scans are no longer stored', async () => {
    const [wrong, number] = [newNumber(), newNumber()];
    await send(['locate', number, 60, { location: 'A1' }]);
    const id = await receive(wrong);
    const manifest = await readyManifest(id);
    await send(['load', wrong, 10, { manifest_id: manifest }]);
    await parcels.select('delete from scans');
    await correct(id, number);
    expect(await loadingOf(manifest)).toEqual({ loaded: 1, missing: 0, extra: 0 });
    expect(await positions()).toEqual([{ parcel_key: number, location: 'A1' }]);
  });
});
