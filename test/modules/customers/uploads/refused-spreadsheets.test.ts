import { describe, expect, test } from '@jest/globals';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { writeTable } from '../../../support/samples/spreadsheets.js';
import { CUSTOMERS, EXCEL, PREALERTS, SPANISH, type Case, type Import } from './spreadsheet-tables.js';

const { api, db } = withService();

const upload = (id: Import, file: Buffer, dryRun = false) =>
  api.as('iex').call(id, multipart({ file: { file }, ...(dryRun ? { dry_run: 'true' } : {}) }));

const REFUSED: [...Case, code: string, field: string, words: RegExp][] = [
  [
    'Excel for Mac, CSV in Mac Roman',
    'uploadCustomers',
    CUSTOMERS,
    { encoding: 'Mac Roman', lineEnd: '\r' },
    'invalid_encoding',
    'file',
    /CSV UTF-8/,
  ],
  [
    'Excel for Windows, CSV Macintosh',
    'uploadPrealerts',
    PREALERTS,
    { encoding: 'Mac Roman', lineEnd: '\r', separator: ';' },
    'invalid_encoding',
    'file',
    /CSV UTF-8/,
  ],
  [
    'Excel for Windows, CSV MS-DOS',
    'uploadCustomers',
    CUSTOMERS,
    { encoding: 'CP850' },
    'invalid_encoding',
    'file',
    /CSV UTF-8/,
  ],
  [
    'long numbers from Excel',
    'uploadPrealerts',
    [...PREALERTS, ['9.40011E+21', 'IEX-1001', '', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'validation_failed',
    'tracking_number',
    /Row 4: tracking_number is 9\.40011E\+21.*column as text/,
  ],
  [
    'long numbers from Excel in Spanish',
    'uploadPrealerts',
    [...SPANISH, ['9,40011E+21', 'IEX-1001', '', '']],
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
    'validation_failed',
    'tracking_number',
    /Row 4: .*column as text/,
  ],
  [
    'codes that Excel made numbers',
    'uploadCustomers',
    [...CUSTOMERS, ['1.23457E+11', 'Ann', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'validation_failed',
    'user_code',
    /Row 5: user_code is 1\.23457E\+11/,
  ],
  [
    'codes that Excel made dates',
    'uploadCustomers',
    [...CUSTOMERS, ['3-Jan', 'Ann', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'validation_failed',
    'user_code',
    /Row 5: user_code is 3-Jan, a date/,
  ],
  [
    'a formula that failed',
    'uploadCustomers',
    [...CUSTOMERS, ['SHEET-9', '#NAME?', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'validation_failed',
    'first_name',
    /Row 5: first_name is #NAME\?/,
  ],
  [
    'a pivot table without the columns',
    'uploadPrealerts',
    [
      ['Month', 'Parcels'],
      ['November', '12'],
    ],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'validation_failed',
    'file',
    /tracking_number.*Month \| Parcels/,
  ],
];

describe('files of spreadsheet programs that are refused, and store nothing', () => {
  test.each(REFUSED)('%s', async (_name, id, table, dialect, code, field, words) => {
    for (const dryRun of [true, false]) {
      const call = upload(id, writeTable(table, dialect), dryRun);
      const [first] = (await call.refused(400, code)).errors;
      expect(first?.field).toBe(field);
      expect(first?.message).toMatch(words);
    }
    const stored = await db.query(
      `select user_code as text from customers where user_code like 'SHEET-%'
       union all select tracking_number from prealerts where tracking_number like 'SHEET%'`,
    );
    expect(stored).toEqual([]);
  });
});
