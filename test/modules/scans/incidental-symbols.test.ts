import { beforeEach, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { multipart } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan, sendScan } from '../../support/scans/device-scans.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// A label has symbols that are equal on many parcels. None of them is the number of a parcel (decision 0072).

const { api, db } = withService();
const { createPrealert, receive, resolve } = makeScanCalls(api);

const GS = '\u001d';
const RS = '\u001e';
const UPS = ['1Z5R89390357567127', '1Z5R89390357567118'] as const;

const announce = (number: string, courier: 'IEX' | 'HRB' = 'HRB') =>
  api.withKey(DEMO.apiKeys[courier]).submitPrealert({
    UserCode: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001',
    TrackingNumber: number,
  });

const locate = (scan: string) => sendScan(api, deviceScan('locate', scan, 10, { location: 'A' }));

/** Gives the rows of earlier tests other keys. */
beforeEach(() =>
  db.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  ),
);

const SEVERAL = [' ', '-', ';', '/', ' - ', '|'].map((separator) => `42033122${separator}42010001`);

describe.each([
  '420331221234',
  '42033122',
  'UPSN',
  '[)>',
  '[)>01',
  '(420)33122',
  '420-33122',
  '42033122-1234',
  'UPSN 42033122',
  ...SEVERAL,
])('%s', (symbol) => {
  test('is refused in a pre-alert and in a scan of nothing else', async () => {
    const file = `tracking_number,user_code\n"${symbol}",IEX-1001\n`;
    await announce(symbol).refused(400, 'validation_failed');
    await receive(symbol).refused(400, 'validation_failed');
    await createPrealert(symbol).refused(400, 'validation_failed');
    await api
      .as('iex')
      .uploadPrealerts(multipart({ file: { file } }))
      .refused(400, 'validation_failed');
    expect(await locate(symbol)).toMatchObject({ result: 'refused', reason: 'invalid' });
    expect(await resolve(symbol)).toMatchObject({ owner: null, next: 'unknown', numbers: [] });
  });

  test('beside a number leaves the parcels of two numbers two parcels', async () => {
    const ids: string[] = [];
    for (const number of UPS) ids.push((await receive(`${symbol}\n${number}`).created()).data.package_id);
    expect(ids[0]).not.toBe(ids[1]);
    for (const [index, number] of UPS.entries())
      expect((await receive(number).ok()).data).toMatchObject({ duplicate: true, package_id: ids[index] });
  });
});

test("FedEx's 12 digits can begin with 420", async () => {
  const number = '420331229005';
  await announce(number, 'IEX').created();
  expect((await receive(number).created()).data).toMatchObject({ user_code: 'IEX-1001' });
});

test('the number in a MaxiCode of UPS is read, and an announced part of it is not the parcel', async () => {
  const [number] = UPS;
  const parts = [
    '96331221234',
    '840',
    '003',
    `1Z${number.slice(-8)}`,
    'UPSN',
    '5R8939',
    '187',
    '',
    '1/1',
    '10',
  ];
  const maxicode = `[)>${RS}01${GS}${parts.join(GS)}${RS}\u0004`;
  for (const part of ['96331221234', '5R8939']) await announce(part).created();
  expect(await resolve(maxicode)).toMatchObject({ owner: null, numbers: [number], next: 'receive' });
  const { package_id } = (await receive(maxicode).created()).data;
  expect((await receive(number).ok()).data).toMatchObject({ package_id, duplicate: true });
});

describe('of two symbols, a known one', () => {
  test.each(['\n', '\r', GS, '^]'])(
    'does not decide beside an unknown number with a right check digit: %j',
    async (separator) => {
      const [number] = UPS;
      const known = 'SHELF-LABEL-7';
      await announce(known).created();
      for (const scan of [`${known}${separator}${number}`, `${number}${separator}${known}`]) {
        const { message } = await receive(scan).refused(400, 'validation_failed');
        for (const name of [known, number]) expect(message).toContain(name);
        expect(await resolve(scan)).toMatchObject({ kind: 'several_numbers', owner: null, next: 'review' });
        expect(await locate(scan)).toMatchObject({ result: 'refused' });
      }
    },
  );

  test('does not decide beside an unknown one that comes after many others', async () => {
    await announce('SHELF-LABEL-7').created();
    const others = Array.from({ length: 8 }, (_, n) => `OTHER-${n}X`).join('\r');
    await receive(`SHELF-LABEL-7\r${others}\r${UPS[0]}`).refused(400, 'validation_failed');
  });

  test('without a check digit does not decide beside another that looks like a number of a carrier', async () => {
    await announce('TBA502887274000').created();
    await receive('TBA502887274000\rTBA502887274111').refused(400, 'validation_failed');
  });

  test('decides beside text that is no number of a carrier, and beside its own barcode', async () => {
    const [number] = UPS;
    for (const known of [number, 'TWO1', '779017972697']) await announce(known, 'IEX').created();
    for (const scan of [
      `${number}\r00961`,
      'TWO1\r00961',
      '1001921334250001000300779017972697\r779017972697',
    ])
      expect((await receive(scan).created()).data).toMatchObject({ matched_by: 'prealert' });
  });
});

describe('elements of a symbol that fit a format when joined', () => {
  test('are not the parcel if a record has one of them', async () => {
    await announce('37853100', 'IEX').created();
    for (const separator of ['\n', GS, '^]']) {
      const scan = `4711${separator}37853100`;
      expect(await resolve(scan)).toMatchObject({ owner: { user_code: 'IEX-1001' } });
      const { package_id, user_code } = (await receive(scan).succeeded()).data;
      expect(user_code).toBe('IEX-1001');
      expect((await receive('37853100').ok()).data).toMatchObject({ duplicate: true, package_id });
    }
  });

  test('without a check digit are not the parcel if a record has one of them', async () => {
    const known = 'SG12345678999999999';
    await announce(known, 'IEX').created();
    const scan = `${known}${GS}USA${GS}2KG`;
    expect(await resolve(scan)).toMatchObject({ owner: { user_code: 'IEX-1001' } });
    const { package_id } = (await receive(scan).created()).data;
    expect((await receive(known).ok()).data).toMatchObject({ duplicate: true, package_id });
  });

  test('are refused if no record has one of them, and are the parcel if a record has all of them', async () => {
    const scan = `4711${GS}37853100`;
    await receive(scan).refused(400, 'validation_failed');
    await announce('471137853100', 'IEX').created();
    expect((await receive(scan).created()).data).toMatchObject({ user_code: 'IEX-1001' });
  });

  test('are one number for USPS after its ZIP code', async () => {
    const number = '9400111899223100001234';
    const { package_id } = (await receive(`420331661234${GS}${number}`).created()).data;
    for (const scan of [number, `42033166${GS}${number}`, `420331661234\r${number}`])
      expect((await receive(scan).ok()).data).toMatchObject({ duplicate: true, package_id });
  });
});
