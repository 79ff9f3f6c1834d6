import { describe, expect, test } from '@jest/globals';
import Papa from 'papaparse';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { readWorkbook } from '../../../support/readers/workbook.js';
import { multipart, unchecked } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

const { IEX, HRB } = DEMO.couriers;
const FORMATS = ['csv', 'xlsx'] as const;
type Format = (typeof FORMATS)[number];
const OPERATION = { csv: 'exportCustomersCsv', xlsx: 'exportCustomersXlsx' } as const;
const HEADINGS = [
  'User Code',
  'First Name',
  'Last Name',
  'Branch',
  'Active',
  'Courier',
  'Created At',
  'Updated At',
];

const { api, db } = withService();

const request = (as: string, format: Format, query: object) =>
  api.as(as).call(OPERATION[format], unchecked(query));

/** Returns the rows of an export as texts, headings first. */
async function rowsOf(as: string, format: Format, query: object = {}): Promise<string[][]> {
  const { bytes } = await request(as, format, query).ok();
  return format === 'csv'
    ? Papa.parse<string[]>(bytes.toString().trimEnd()).data
    : readWorkbook(bytes).map((row) =>
        Array.from(row, (cell) => cell?.value ?? '').slice(0, HEADINGS.length),
      );
}

const FIELDS = [
  'user_code',
  'first_name',
  'last_name',
  'branch',
  'is_active',
  'courier_name',
  'created_at',
  'updated_at',
] as const;

/** Returns the same rows from the list. */
async function listed(as: string, query: object = {}): Promise<string[][]> {
  const { data } = await api
    .as(as)
    .listCustomers(unchecked({ limit: 100, ...query }))
    .ok();
  // Without an action, the list is one of customers.
  const rows = data as Record<(typeof FIELDS)[number], string | number | null>[];
  return rows.map((row) => FIELDS.map((name) => String(row[name] ?? '')));
}

describe.each(FORMATS)('customers as %s', (format) => {
  test('are those of the list with the same filters and order, page by page', async () => {
    const queries = [
      { search: 'an', sort_by: 'last_name', sort_dir: 'DESC' },
      { branch: 'Montego Bay' },
      { courier_id: HRB, sort_by: 'updated_at' },
      { sort_by: 'courier_name' },
    ];
    for (const query of queries) {
      const [headings, ...rows] = await rowsOf('manager', format, { ...query, limit: 100 });
      expect(headings).toEqual(HEADINGS);
      expect(rows.length).toBeGreaterThan(1);
      expect(rows).toEqual(await listed('manager', query));
      const second = await rowsOf('manager', format, { ...query, limit: 1, page: 2 });
      expect(second.slice(1)).toEqual([rows[1]]);
    }
    const { headers } = await request('admin', format, {}).ok();
    expect(headers.get('content-disposition')).toMatch(
      new RegExp(`^attachment; filename="customers-\\d{8}-\\d{6}\\.${format}"$`),
    );
  });

  test('of a courier are its own only, whatever courier_id says', async () => {
    for (const query of [{}, { courier_id: HRB }]) {
      const [, ...rows] = await rowsOf('iex', format, { ...query, limit: 10_000 });
      expect(new Set(rows.map((row) => row[5]))).toEqual(new Set(['Island Express']));
    }
    await api.anonymous.call(OPERATION[format]).refused(401, 'token_missing');
    const { errors } = await request('iex', format, { limit: 10_001 }).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: 'limit' }]);
  });

  test('have texts that no spreadsheet executes, and codes of digits stay texts', async () => {
    await db.query(
      'update customers set first_name = $1, branch = $2 where courier_id = $3 and user_code = $4',
      ['=cmd|calc', '@home', IEX, 'IEX-1002'],
    );
    await db.query('update customers set user_code = $1 where courier_id = $2 and user_code = $3', [
      '00123',
      IEX,
      'IEX-1003',
    ]);
    const rows = await rowsOf('iex', format, { limit: 10_000 });
    expect(rows.find(([code]) => code === 'IEX-1002')?.slice(1, 4)).toMatchObject({
      0: "'=cmd|calc",
      2: "'@home",
    });
    expect(rows.filter(([code]) => code === '00123')).toHaveLength(1);
    await db.query('update customers set user_code = $1 where courier_id = $2 and user_code = $3', [
      'IEX-1003',
      IEX,
      '00123',
    ]);
    await db.query(
      'update customers set first_name = $1, branch = null where courier_id = $2 and user_code = $3',
      ['Ann', IEX, 'IEX-1002'],
    );
  });
});

test('an exported file is uploaded again without a change', async () => {
  const { bytes } = await request('iex', 'csv', { limit: 10_000 }).ok();

  const { data } = await api
    .as('iex')
    .uploadCustomers(multipart({ file: { file: bytes, name: 'customers.csv' } }))
    .ok();
  expect(data).toMatchObject({ created: 0, updated: 0 });
  expect(data.unchanged).toBeGreaterThan(10);
});
