import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import Papa from 'papaparse';
import { DEMO } from '../../../../fixtures/demo/demo.js';
import { HEADINGS } from '../../../../src/modules/manifests/document/cells.js';
import { withService } from '../../../support/fixture/with-service.js';
import { unchecked } from '../../../support/fixture/sent.js';
import { makeManifests } from '../../../support/manifests/manifest-calls.js';
import { insertPackages } from '../../../support/manifests/packages.js';
import { pagesOf, pixelsOf } from '../../../support/readers/pdf.js';
import { readWorkbook } from '../../../support/readers/workbook.js';

const { HRB } = DEMO.couriers;
const STAFF = ['admin', 'manager', 'warehouse'];
const MOST = 10_000;
/** The colour of DRAFT across a page. */
const WATERMARK: [number, number, number] = [0xe9, 0xec, 0xf0];
type Format = 'pdf' | 'csv' | 'xlsx';
const MEDIA_TYPES = {
  pdf: 'application/pdf',
  csv: 'text/csv; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const { api, db } = withService();
const { draft, ready, update } = makeManifests(api);

const documentOf = (manifest_id: string, format: Format, as = 'warehouse') =>
  api.as(as).getManifestDocument({ manifest_id, format });

async function fileOf(id: string, format: Format): Promise<{ bytes: Buffer; name: string | undefined }> {
  const { headers, bytes } = await documentOf(id, format).ok();
  expect(headers.get('content-type')).toBe(MEDIA_TYPES[format]);
  return { bytes, name: /filename="(.*)"/.exec(headers.get('content-disposition') ?? '')?.[1] };
}

/** Returns the cells of a CSV or XLSX document, as text. The first row has the headings. */
async function cellsOf(id: string, format: 'csv' | 'xlsx'): Promise<string[][]> {
  const { bytes } = await fileOf(id, format);
  if (format === 'xlsx')
    return readWorkbook(bytes).map((row) => HEADINGS.map((_, column) => row[column]?.value ?? ''));
  const { data, errors } = Papa.parse<string[]>(bytes.toString(), { newline: '\r\n', delimiter: ',' });
  expect(errors).toEqual([]);
  expect(data.pop()).toEqual(['']);
  return data;
}

const recordsOf = async (id: string, format: 'csv' | 'xlsx' = 'csv') => {
  const [headings, ...rows] = await cellsOf(id, format);
  expect(headings).toEqual([...HEADINGS]);
  return rows.map((row) => Object.fromEntries(HEADINGS.map((name, index) => [name, row[index] ?? ''])));
};

const textOf = async (id: string) => (await pagesOf((await fileOf(id, 'pdf')).bytes)).join('\n');

/** Three packages: of two couriers, and of none. */
async function cargo() {
  const [mine] = await insertPackages(db, 1, { userCode: 'IEX-1001', weightLb: '4.25' });
  const [theirs] = await insertPackages(db, 1, { courierId: HRB, weightLb: '1200.5', status: 'on_hold' });
  const [nobodys] = await insertPackages(db, 1, { courierId: null, weightLb: '0.125' });
  await db.query("update packages set shipper = 'Example Books', description = 'Atlas' where id = $1", [
    mine,
  ]);
  return [mine, theirs, nobodys];
}

async function readyFlight(packageIds: string[]) {
  const flight = await ready();
  await update(flight.id, {
    awb_number: '106-12345675',
    flight_number: 'BW 485',
    flight_date: '2026-11-23',
    notes: 'Evening flight to Kingston',
  }).ok();
  await db.query('update packages set manifest_id = $1 where id = any($2)', [flight.id, packageIds]);
  return flight;
}

describe.each(['csv', 'xlsx'] as const)('a cargo manifest as %s', (format) => {
  test('has one line per package by courier and house number, with the flight in each', async () => {
    const ids = await cargo();
    const { id, number } = await readyFlight(ids);
    const packages = await Promise.all(ids.map((packageId) => db.package(packageId)));
    const records = await recordsOf(id, format);
    expect((await fileOf(id, format)).name).toBe(`${number}.${format}`);
    const [theirs, mine, nobodys] = records;
    expect(records.map((record) => record['House Number'])).toEqual(
      [1, 0, 2].map((index) => packages[index]?.house_number),
    );
    expect(mine).toEqual({
      'Manifest Number': number,
      'Manifest Status': 'READY',
      'Air Waybill': '106-12345675',
      'Flight Number': 'BW 485',
      'Flight Date': '2026-11-23',
      Origin: 'Miami Gateway',
      Line: '2',
      'House Number': packages[0]?.house_number,
      'Tracking Number': packages[0]?.tracking_number,
      'Courier Code': 'IEX',
      Courier: 'Island Express',
      'User Code': 'IEX-1001',
      'First Name': 'Ann',
      'Last Name': 'Bell',
      Pieces: '1',
      'Weight LB': '4.25',
      'Weight KG': '1.928',
      'Package Status': 'received',
      Carrier: '',
      Shipper: 'Example Books',
      Description: 'Atlas',
    });
    expect(theirs).toMatchObject({
      'Courier Code': 'HRB',
      'Package Status': 'on_hold',
      'Weight KG': '544.538',
    });
    expect(nobodys).toMatchObject({ 'Courier Code': '', Courier: '', 'User Code': '', Line: '3' });
  });

  test('contains no formula', async () => {
    const [packageId] = await insertPackages(db, 1);
    const { id } = await readyFlight([packageId]);
    await db.query("update packages set shipper = '=1+1', description = '@SUM(A1)' where id = $1", [
      packageId,
    ]);
    await db.query("update manifests set flight_number = '+1', awb_number = '-2' where id = $1", [id]);
    expect(await recordsOf(id, format)).toMatchObject([
      { Shipper: "'=1+1", Description: "'@SUM(A1)", 'Flight Number': "'+1", 'Air Waybill': "'-2" },
    ]);
  });

  test('of an empty draft has only the headings, and is called a draft', async () => {
    const { id, number } = await draft();
    expect(await recordsOf(id, format)).toEqual([]);
    expect((await fileOf(id, format)).name).toBe(`DRAFT-${number}.${format}`);
  });
});

test('a draft is marked in each line', async () => {
  const { id } = await draft(await insertPackages(db, 2));
  expect((await recordsOf(id)).map((record) => record['Manifest Status'])).toEqual(['DRAFT', 'DRAFT']);
});

describe('a cargo manifest as a PDF', () => {
  test('shows the flight, the totals per courier and all lines', async () => {
    const ids = await cargo();
    const { id, number } = await readyFlight(ids);
    const text = await textOf(id);
    for (const shown of [
      'Cargo manifest',
      number,
      'Air waybill 106-12345675',
      'Flight BW 485',
      'Flight date 2026-11-23',
      'Origin Miami Gateway',
      'Status READY',
      'Pieces 3',
      'Weight 1,204.875 lb',
      '546.522 kg',
      'Notes Evening flight to Kingston',
      'Island Express (IEX) 1 4.250 1.928',
      'Unknown courier 1 0.125 0.057',
      'Total 3 1,204.875 546.522',
      'Sum of 3 packages 3 1,204.875 546.522',
      'ON HOLD',
      'Example Books. Atlas',
      'IEX-1001, Ann Bell',
    ])
      expect(text.replace(/\s+/g, ' ')).toContain(shown);
    expect(text).toMatch(/Printed \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    for (const { house_number, tracking_number } of await Promise.all(ids.map((each) => db.package(each)))) {
      expect(text).toContain(house_number);
      expect(text).toContain(tracking_number);
    }
    expect(text).not.toContain('DRAFT');
  });

  test('has DRAFT across its pages, in its head and in its name while the manifest is a draft', async () => {
    // Without packages: the headings of tables have nearly the same colour.
    const { id, number } = await draft();
    const { bytes, name } = await fileOf(id, 'pdf');
    expect(name).toBe(`DRAFT-${number}.pdf`);
    const marked = await pixelsOf(bytes, WATERMARK);
    expect(marked).toBeGreaterThan(10_000);
    expect((await pagesOf(bytes)).join('\n')).toContain(`${number} · DRAFT`);
    await update(id, { status: 'ready' }).ok();
    // The edges of letters have such pixels too.
    expect(await pixelsOf((await fileOf(id, 'pdf')).bytes, WATERMARK)).toBeLessThan(marked / 3);
  });

  test('is the default, and repeats its headings on each page', async () => {
    const { id } = await readyFlight(await insertPackages(db, 200));
    const { bytes, headers } = await api.as('manager').getManifestDocument({ manifest_id: id }).ok();
    expect(headers.get('content-type')).toBe('application/pdf');
    const pages = await pagesOf(bytes);
    expect(pages.length).toBeGreaterThan(2);
    for (const [index, page] of pages.entries()) {
      expect(page).toContain('Tracking number');
      expect(page).toContain(`Page ${index + 1} of ${pages.length}`);
    }
  });

  test('of an empty manifest has its head and no table', async () => {
    const { id } = await draft();
    const text = await textOf(id);
    expect(text).toContain('Pieces 0');
    expect(text).not.toContain('Tracking number');
  });
});

test('a manifest of 10,000 packages is written in each format, and a longer one is refused', async () => {
  const { id } = await ready();
  const packages = await insertPackages(db, MOST, { manifestId: id });
  const sizes = [];
  for (const format of ['pdf', 'csv', 'xlsx'] as const) sizes.push((await fileOf(id, format)).bytes.length);
  expect(Math.min(...sizes)).toBeGreaterThan(100_000);
  expect(await recordsOf(id)).toHaveLength(packages.length);
  await insertPackages(db, 1, { manifestId: id });
  for (const format of ['pdf', 'csv', 'xlsx'] as const)
    await documentOf(id, format).refused(400, 'manifest_too_long');
}, 120_000);

test('texts of which three lines are printed cost hardly more than those three lines', async () => {
  const cpuOf = async (description: string) => {
    const { id } = await ready();
    await insertPackages(db, 300, { manifestId: id });
    await db.query('update packages set description = $2 where manifest_id = $1', [id, description]);
    const before = process.cpuUsage();
    await fileOf(id, 'pdf');
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  await cpuOf('Shoes');
  const short = await cpuOf('Shoes and a hat. '.repeat(20));
  // At most three times. To wrap them whole takes thirty times as long. These characters are missing in the font.
  for (const long of ['鞋'.repeat(2_000), 'Ж'.repeat(2_000)])
    expect(await cpuOf(long)).toBeLessThan(8 * Math.max(short, 200));
});

describe('access to cargo manifests', () => {
  test.each(STAFF)('%s gets them', async (as) => {
    await documentOf(DEMO.manifests.draft, 'csv', as).ok();
  });

  test('couriers get 403, also for a flight with their own packages, and anonymous callers 401', async () => {
    for (const as of ['iex', 'hrb'])
      await documentOf(DEMO.manifests.shipped, 'csv', as).refused(403, 'permission_denied');
    const query = { manifest_id: DEMO.manifests.shipped };
    await api.anonymous.getManifestDocument(query).refused(401, 'token_missing');
  });

  test('a manifest of another tenant is not found, as an unknown one', async () => {
    for (const format of ['pdf', 'csv', 'xlsx'] as const) {
      await documentOf(DEMO.manifests.draft, format, 'two/admin').refused(404, 'manifest_not_found');
      await documentOf(randomUUID(), format).refused(404, 'manifest_not_found');
    }
  });

  test('an unknown format and a malformed id are refused', async () => {
    const send = (query: object) => api.as('admin').getManifestDocument(unchecked(query));
    await send({ manifest_id: DEMO.manifests.draft, format: 'doc' }).refused(
      400,
      'validation_failed',
      'format',
    );
    await send({ manifest_id: 'x' }).refused(400, 'validation_failed', 'manifest_id');
    await send({}).refused(400, 'validation_failed', 'manifest_id');
  });
});
