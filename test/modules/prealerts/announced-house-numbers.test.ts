import { beforeAll, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newHouseNumber } from '../../../src/modules/packages/intake/house-number.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { deviceScan, sendScan } from '../../support/scans/device-scans.js';
import { withService } from '../../support/fixture/with-service.js';
import { unchecked, multipart } from '../../support/fixture/sent.js';

// A courier can announce any text, also the house number of another courier's package. It then learns nothing, and is no claimant.

const { api, service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

const HRB = 'HRB-2001';

/** The replies of all ways in which Harbour Couriers can announce a number, without what differs on every call. */
async function announceEverywhere(number: string): Promise<unknown[]> {
  const fields = { user_code: HRB, vendor: 'Shop' };
  const old = await api
    .as('hrb')
    .createPrealert({ ...fields, tracking_number: newNumber() })
    .created();
  const { prealert_id } = old.data;
  const key = DEMO.apiKeys.HRB;
  const single = { UserCode: HRB, TrackingNumber: number };
  const replies = [
    await api
      .as('hrb')
      .replacePrealert({ ...fields, prealert_id, tracking_number: number })
      .answer(),
    await api
      .withKey(key)
      .submitPrealert({ ...single, TrackingNumber: number.toLowerCase() })
      .answer(),
    await api
      .withKey(key)
      .submitPrealert(unchecked(JSON.stringify(single)), {
        headers: { 'content-type': 'application/x-ndjson' },
      })
      .answer(),
    await api
      .as('hrb')
      .uploadPrealerts(multipart({ file: { file: `tracking_number,user_code\n${number},${HRB}` } }))
      .answer(),
    await api
      .as('hrb')
      .createPrealert({ ...fields, tracking_number: ` ${number} ` })
      .answer(),
    await api.as('hrb').resolveScan({ scan: number }).answer(),
  ];
  return replies.map(({ status, body }) => [
    status,
    JSON.stringify(body)
      .replaceAll(number, 'NUMBER')
      .replaceAll(number.toLowerCase(), 'number')
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
      .replace(/"timestamp":\d+/, '"timestamp":0')
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'time'),
  ]);
}

async function receiveForIslandExpress() {
  const packageId = await parcels.receive(newNumber(), { user_code: 'IEX-1001' });
  return { packageId, houseNumber: String((await parcels.packageRow(packageId))['house_number']) };
}

test('an announced house number has the same replies whether or not a package has it', async () => {
  const { houseNumber } = await receiveForIslandExpress();
  // A number without a digit has a warning, whether or not a package has it.
  let absent = newHouseNumber();
  while (/\d/.test(absent) !== /\d/.test(houseNumber)) absent = newHouseNumber();
  expect(await announceEverywhere(houseNumber)).toEqual(await announceEverywhere(absent));
});

test('a scan of a house number shows the owner of its package, and no courier that announced the house number', async () => {
  const { packageId, houseNumber } = await receiveForIslandExpress();
  const before = (await api.as('warehouse').resolveScan({ scan: houseNumber }).ok()).data;
  await announceEverywhere(houseNumber);
  for (const scan of [houseNumber, houseNumber.toLowerCase(), `${houseNumber}\r${houseNumber}\r`]) {
    const { data } = await api.as('warehouse').resolveScan({ scan }).answer();
    const { text: _, numbers: __, ...shown } = data;
    expect(shown).toMatchObject({
      kind: 'house_number',
      owner: { user_code: 'IEX-1001' },
      matches: { packages: [{ package_id: packageId }], prealerts: [] },
    });
    expect({ ...before, ...shown }).toEqual(before);
    expect((await parcels.scan(scan)).body['data']).toMatchObject({
      package_id: packageId,
      flagged: false,
      user_code: 'IEX-1001',
    });
  }
  const located = await sendScan(api, deviceScan('locate', houseNumber, 10, { location: 'Shelf A' }));
  expect(located).toMatchObject({ result: 'done', parcel: { package_id: packageId, flagged: false } });
});

test('a scan with a house number and another number does not show a courier that announced the house number', async () => {
  const { houseNumber } = await receiveForIslandExpress();
  await announceEverywhere(houseNumber);
  const scan = `${houseNumber}\r1Z5R89390357567127\r`;
  const { data } = await api.as('warehouse').resolveScan({ scan }).answer();
  expect(data).toMatchObject({ kind: 'several_numbers', matches: { prealerts: [] } });
});

test('a courier sees the claims of its own package by its house number', async () => {
  const number = newNumber();
  await parcels.announce('IEX', number);
  const packageId = await parcels.receive(number);
  const scan = String((await parcels.packageRow(packageId))['house_number']);
  for (const as of ['warehouse', 'iex']) {
    const { data } = await api.as(as).resolveScan({ scan }).answer();
    expect(data.matches.prealerts).toMatchObject([{ tracking_number: number, status: 'received' }]);
  }
});
