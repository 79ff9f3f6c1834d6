import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { multipart, unchecked } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';
import { deviceScan, newScanNumber, sendScan, sendScans } from '../../support/scans/device-scans.js';
import { makeScanCalls } from '../../support/scans/scan-calls.js';

// What a scan means: the number inside a barcode, or one of several symbols (decision 0072).

const { api, db } = withService();
const { announce, createPrealert, receive, renumber, resolve } = makeScanCalls(api);

const newNumber = () => newScanNumber('MEANS');
const submit = api.withKey(DEMO.apiKeys.IEX).submitPrealert;

describe('the number that the reader names is looked up', () => {
  test.each([
    [
      '26 digits of USPS after a ZIP code of 5',
      '4203316692419901234567000000000017',
      '92419901234567000000000017',
    ],
    ['the 14 digits that DPD tells', '008182709980000020033350276C', '09980000020033'],
    ['the 15 digits of FedEx Ground', '9611020987654312345672', '987654312345672'],
  ])('%s', async (_name, barcode, told) => {
    const prealertId = await announce(told);
    expect(await resolve(barcode)).toMatchObject({ next: 'receive', owner: { user_code: 'IEX-1001' } });
    expect((await receive(barcode).created()).data).toMatchObject({
      prealert_id: prealertId,
      matched_by: 'prealert',
    });
    expect((await receive(told).ok()).data).toMatchObject({ duplicate: true, prealert_id: prealertId });
    const refused = await createPrealert(barcode).refused(409, 'duplicate_tracking_number');
    expect(refused.existing).toMatchObject({ prealert_id: prealertId, status: 'received' });
  });
});

describe.each([
  ['CR', '\r'],
  ['GS', '\u001d'],
  ['^]', '^]'],
  ['CR and LF', '\r\n'],
  ['a TAB', '\t'],
])('two symbols with %s between them', (_name, separator) => {
  const receiveByStation = (scan: string) => sendScan(api, deviceScan('receive', scan, 10, { weight: 1 }));

  test('one known pre-alert decides, whichever it is', async () => {
    const [first, second] = [newNumber(), newNumber()];
    const firstId = await announce(first);
    await announce(second);
    const [one, two] = [`${first}${separator}ZIP00961`, `ZIP00961${separator}${second}`];
    expect(await resolve(one)).toMatchObject({
      next: 'receive',
      kind: 'parcel',
      owner: { user_code: 'IEX-1001' },
    });
    expect((await receive(one).created()).data).toMatchObject({ prealert_id: firstId });
    expect(await receiveByStation(two)).toMatchObject({
      outcome: 'done',
      parcel: { tracking_number: second },
    });
    expect((await receive(first).ok()).data.duplicate).toBe(true);
    expect(await resolve(one)).toMatchObject({ next: 'already_received' });
  });

  test('a received package decides as well, by its number and by its house number', async () => {
    const number = newNumber();
    const { package_id, house_number } = (await receive(number).created()).data;
    for (const scan of [
      `${number}${separator}ZIP00961`,
      `ZIP00961${separator}${house_number}`,
      `${house_number}${separator}${number}`,
    ]) {
      expect((await receive(scan).ok()).data).toMatchObject({ package_id, duplicate: true });
      expect(await receiveByStation(scan)).toMatchObject({
        reason: 'already_received',
        parcel: { package_id },
      });
    }
  });

  test('without a record, or with two, intake refuses and names both, and ResolveScan says so', async () => {
    const [one, two] = [newNumber(), newNumber()];
    for (const number of [one, two]) await announce(number);
    const before = await db.count('packages');
    for (const [first, second] of [
      ['TWO1-XY', 'ZIP00961'],
      [one, two],
    ] as const) {
      const scan = `${first}${separator}${second}`;
      const { errors, message } = await receive(scan).refused(400, 'validation_failed');
      expect(errors[0]?.field).toBe('tracking_number');
      expect(message).toContain(first);
      expect(message).toContain(second);
      expect(await receiveByStation(scan)).toMatchObject({ result: 'refused', reason: 'invalid' });
      const shown = await resolve(scan);
      expect(shown).toMatchObject({ next: 'review', kind: 'several_numbers', owner: null });
      expect(shown.numbers).toEqual(expect.arrayContaining([first, second]));
    }
    expect(await db.count('packages')).toBe(before);
  });

  test('a pre-alert and a correction must be one number', async () => {
    const text = `TWO1-XY${separator}ZIP00961`;
    const { package_id } = (await receive(newNumber()).created()).data;
    const prealert_id = await announce(newNumber());
    const iex = api.as('iex');
    const submitted = { UserCode: 'IEX-1001', TrackingNumber: text };
    const replaced = { prealert_id, user_code: 'IEX-1001', tracking_number: text, vendor: 'Example' };
    const file = `tracking_number,user_code\n"${text}",IEX-1001\n`;
    for (const call of [
      submit(submitted),
      createPrealert(text),
      iex.replacePrealert(replaced),
      renumber(package_id, text),
      iex.uploadPrealerts(multipart({ file: { file } })),
    ]) {
      const { body } = await call.refused(400, 'validation_failed');
      expect(JSON.stringify(body)).toContain('TWO1-XY');
    }
    const headers = { 'content-type': 'application/x-ndjson' };
    const lines = await submit(unchecked(JSON.stringify(submitted)), { headers }).ok();
    expect(lines.data.results).toMatchObject([{ status: 'invalid', code: 'validation_failed' }]);
  });
});

test.each(['\u0001', '\u0008', '\u001b', '\u007f', '\u009b'])(
  'a control character inside a number is refused: %j',
  async (character) => {
    const text = `CON${character}TROL-1`;
    await receive(text).refused(400, 'validation_failed');
    await api.as('warehouse').resolveScan({ scan: text }).refused(400, 'validation_failed');
    expect((await sendScan(api, deviceScan('receive', text, 1, { weight: 1 }))).result).toBe('refused');
    await submit({ UserCode: 'IEX-1001', TrackingNumber: text }).refused(400, 'validation_failed');
  },
);

test('a scan that a record decided is repeated with its answer when the records have changed', async () => {
  const number = newNumber();
  await announce(number);
  const scan = deviceScan('receive', `${number}\rZIP00961`, 10, { weight: 1 });
  expect(await sendScan(api, scan)).toMatchObject({ result: 'done' });
  await announce('ZIP00961');
  expect(await sendScan(api, scan)).toMatchObject({ result: 'repeated', outcome: 'done' });
});

test.each(['before', 'after'])(
  'a scan of two symbols %s the receipt of one of them in the same batch is of that parcel',
  async (place) => {
    const number = newNumber();
    const received = deviceScan('receive', number, 10, { weight: 1 });
    const located = deviceScan('locate', `${number}\rORDER-${number}`, 5, { location: 'B-2' });
    const scans = place === 'before' ? [located, received] : [received, located];
    const { results } = await sendScans(api, scans);
    const outcome = { result: 'done', parcel: { tracking_number: number, location: 'B-2' } };
    expect(results).toMatchObject([outcome, outcome]);
  },
);

describe.each([
  ['a space between', ' '],
  ['nothing between', ''],
])('two announced numbers of carriers with %s', (_name, separator) => {
  test('are refused with both, and nothing is stored', async () => {
    const digits = newNumber().replace(/\D/g, '').slice(-11).padStart(11, '7');
    const [first, second] = [`TBA1${digits}`, `TBC1${digits}`];
    await announce(first);
    await announce(second);
    const scan = `${first}${separator}${second}`;
    const { errors } = await receive(scan).refused(400, 'validation_failed', 'tracking_number');
    expect(errors).toMatchObject([{ code: 'ambiguous' }]);
    expect(errors[0]?.message).toContain(first);
    expect(errors[0]?.message).toContain(second);
    expect(await db.count('packages', { tracking_number: scan })).toBe(0);
    expect(await sendScan(api, deviceScan('receive', scan, 10, { weight: 1 }))).not.toMatchObject({
      outcome: 'done',
    });
    // The number of one of them decides, as one known record of several symbols does.
    expect((await receive(first).created()).data.matched_by).toBe('prealert');
  });
});
