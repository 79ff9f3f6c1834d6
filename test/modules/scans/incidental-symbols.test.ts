import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { deviceScan, sendScans } from '../../support/scans/device-scans.js';
import { startService, type Service } from '../../support/service/service.js';

// A label has symbols that are equal on many parcels. None of them is the number of a parcel (decision 0072).

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const GS = '\u001d';
const RS = '\u001e';
const UPS = ['1Z5R89390357567127', '1Z5R89390357567118'];

const announce = (number: string, courier: 'IEX' | 'HRB' = 'HRB') =>
  service.call('submitPrealert', {
    key: DEMO.apiKeys[courier],
    body: { UserCode: courier === 'IEX' ? 'IEX-1001' : 'HRB-2001', TrackingNumber: number },
  });

const receive = (number: string) =>
  service.call('receivePackage', { as: 'warehouse', body: { tracking_number: number, weight: 1 } });

const resolve = async (scan: string) =>
  (await service.call('resolveScan', { as: 'warehouse', body: { scan } })).body['data'];

const locate = async (scan: string) =>
  (await sendScans(service, [deviceScan('locate', scan, 10, { location: 'A' })])).results[0];

const forget = () =>
  service.owner.query(
    `with gone as (update packages set tracking_number = id::text, tracking_key = id::text)
     update prealerts set tracking_number = id::text, tracking_key = id::text, announced_key = null`,
  );

describe.each(['420331221234', '42033122', 'UPSN', '[)>', '[)>01', '(420)33122'])('%s', (symbol) => {
  test('is refused in a pre-alert and in a scan of nothing else', async () => {
    const replies = [
      await announce(symbol),
      await receive(symbol),
      await service.call('createPrealert', {
        as: 'iex',
        body: { user_code: 'IEX-1001', tracking_number: symbol, vendor: 'Example' },
      }),
      await service.call('uploadPrealerts', {
        as: 'iex',
        form: { file: { file: `tracking_number,user_code\n"${symbol}",IEX-1001\n` } },
      }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    expect(await locate(symbol)).toMatchObject({ result: 'refused', reason: 'invalid' });
    expect(await resolve(symbol)).toMatchObject({ owner: null, next: 'unknown', numbers: [] });
  });

  test('beside a number leaves the parcels of two numbers two parcels', async () => {
    const received = [];
    for (const number of UPS) received.push((await receive(`${symbol}\n${number}`)).body['data']);
    expect(received[0].package_id).not.toBe(received[1].package_id);
    for (const [index, number] of UPS.entries())
      expect((await receive(number)).body['data']).toMatchObject({
        duplicate: true,
        package_id: received[index].package_id,
      });
    await forget();
  });
});

test("FedEx's 12 digits can begin with 420", async () => {
  const number = '420331229005';
  expect((await announce(number, 'IEX')).status).toBe(201);
  expect((await receive(number)).body['data']).toMatchObject({ user_code: 'IEX-1001' });
  await forget();
});

test('the number in a MaxiCode of UPS is read, and an announced part of it is not the parcel', async () => {
  const [number = ''] = UPS;
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
  for (const part of ['96331221234', '5R8939']) expect((await announce(part)).status).toBe(201);
  expect(await resolve(maxicode)).toMatchObject({ owner: null, numbers: [number], next: 'receive' });
  const { package_id } = (await receive(maxicode)).body['data'];
  expect((await receive(number)).body['data']).toMatchObject({ package_id, duplicate: true });
  await forget();
});

describe('of two symbols, a known one', () => {
  test.each(['\n', '\r', GS, '^]'])(
    'does not decide beside an unknown number with a right check digit: %j',
    async (separator) => {
      const [number = ''] = UPS;
      const known = 'SHELF-LABEL-7';
      await announce(known);
      for (const scan of [`${known}${separator}${number}`, `${number}${separator}${known}`]) {
        const reply = await receive(scan);
        expect(reply.status).toBe(400);
        for (const name of [known, number]) expect(reply.body['message']).toContain(name);
        expect(await resolve(scan)).toMatchObject({ kind: 'several_numbers', owner: null, next: 'review' });
        expect(await locate(scan)).toMatchObject({ result: 'refused' });
      }
      await forget();
    },
  );

  test('does not decide beside an unknown one that comes after many others', async () => {
    await announce('SHELF-LABEL-7');
    const others = Array.from({ length: 8 }, (_, n) => `OTHER-${n}X`).join('\r');
    expect((await receive(`SHELF-LABEL-7\r${others}\r${UPS[0]}`)).status).toBe(400);
    await forget();
  });

  test('without a check digit does not decide beside another that looks like a number of a carrier', async () => {
    await announce('TBA502887274000');
    expect((await receive('TBA502887274000\rTBA502887274111')).status).toBe(400);
    await forget();
  });

  test('decides beside text that is no number of a carrier, and beside its own barcode', async () => {
    const [number = ''] = UPS;
    for (const known of [number, 'TWO1', '779017972697']) await announce(known, 'IEX');
    for (const scan of [
      `${number}\r00961`,
      'TWO1\r00961',
      '1001921334250001000300779017972697\r779017972697',
    ])
      expect((await receive(scan)).body['data']).toMatchObject({ matched_by: 'prealert' });
    await forget();
  });
});

describe('elements of a symbol that fit a format when joined', () => {
  test('are not the parcel if a record has one of them', async () => {
    await announce('37853100', 'IEX');
    for (const separator of ['\n', GS, '^]']) {
      const scan = `4711${separator}37853100`;
      expect(await resolve(scan)).toMatchObject({ owner: { user_code: 'IEX-1001' } });
      const { package_id, user_code } = (await receive(scan)).body['data'];
      expect(user_code).toBe('IEX-1001');
      expect((await receive('37853100')).body['data']).toMatchObject({ duplicate: true, package_id });
    }
    await forget();
  });

  test('without a check digit are not the parcel if a record has one of them', async () => {
    const known = 'SG12345678999999999';
    await announce(known, 'IEX');
    const scan = `${known}${GS}USA${GS}2KG`;
    expect(await resolve(scan)).toMatchObject({ owner: { user_code: 'IEX-1001' } });
    const { package_id } = (await receive(scan)).body['data'];
    expect((await receive(known)).body['data']).toMatchObject({ duplicate: true, package_id });
    await forget();
  });

  test('are refused if no record has one of them, and are the parcel if a record has all of them', async () => {
    const scan = `4711${GS}37853100`;
    expect((await receive(scan)).status).toBe(400);
    await announce('471137853100', 'IEX');
    expect((await receive(scan)).body['data']).toMatchObject({ user_code: 'IEX-1001' });
    await forget();
  });

  test('are one number for USPS after its ZIP code', async () => {
    const number = '9400111899223100001234';
    const { package_id } = (await receive(`420331661234${GS}${number}`)).body['data'];
    for (const scan of [number, `42033166${GS}${number}`, `420331661234\r${number}`])
      expect((await receive(scan)).body['data']).toMatchObject({ duplicate: true, package_id });
    await forget();
  });
});
