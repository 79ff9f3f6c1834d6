import { beforeEach, describe, expect, test } from '@jest/globals';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { writeTable, type Dialect } from '../../../support/samples/spreadsheets.js';
import {
  ASCII,
  CUSTOMERS,
  EXCEL,
  GOOGLE,
  LIBRE,
  PREALERTS,
  SPANISH,
  type Case,
  type Import,
} from './spreadsheet-tables.js';

const { api, db } = withService();

beforeEach(async () => {
  await db.query("delete from customers where user_code like 'SHEET-%'");
  await db.query("delete from prealerts where tracking_number like 'SHEET%'");
});

const upload = (id: Import, file: Buffer, dryRun = false) =>
  api.as('iex').call(id, multipart({ file: { file }, ...(dryRun ? { dry_run: 'true' } : {}) }));

const READ: Case[] = [
  ['Excel for Windows, CSV UTF-8', 'uploadCustomers', CUSTOMERS, { ...EXCEL, encoding: 'UTF-8 with BOM' }],
  ['Excel for Windows, CSV', 'uploadCustomers', CUSTOMERS, { ...EXCEL, encoding: 'Windows-1252' }],
  [
    'Excel for Windows in Spanish, CSV',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
  ],
  [
    'Excel for Windows in Spanish, CSV UTF-8',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'UTF-8 with BOM', separator: ';' },
  ],
  [
    'Excel for Windows, Unicode text',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'UTF-16LE with BOM', separator: '\t' },
  ],
  [
    'Excel for Windows, tab delimited',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'Windows-1252', separator: '\t' },
  ],
  [
    'Excel for Windows, CSV MS-DOS without accents',
    'uploadCustomers',
    ASCII,
    { ...EXCEL, encoding: 'CP850' },
  ],
  [
    'Excel for Windows, a line sep=; above',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'UTF-8 with BOM', separator: ';', firstLine: 'sep=;' },
  ],
  [
    'Excel for Windows, a line sep=, above',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'Windows-1252', firstLine: 'sep=,' },
  ],
  [
    'Excel for Windows, Unicode text with the line sep=',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'UTF-16LE with BOM', separator: '\t', firstLine: 'sep=\t' },
  ],
  [
    'Excel for Mac, CSV UTF-8',
    'uploadCustomers',
    CUSTOMERS,
    { encoding: 'UTF-8 with BOM', lineEnd: '\r', endsLastLine: false },
  ],
  [
    'Excel for Mac, CSV without accents',
    'uploadCustomers',
    ASCII,
    { encoding: 'Mac Roman', lineEnd: '\r', endsLastLine: false },
  ],
  [
    'Excel for Mac, Windows CSV',
    'uploadCustomers',
    CUSTOMERS,
    { ...EXCEL, encoding: 'Windows-1252', endsLastLine: false },
  ],
  [
    'Excel for Mac, UTF-16 Unicode text',
    'uploadCustomers',
    CUSTOMERS,
    { encoding: 'UTF-16LE with BOM', separator: '\t', lineEnd: '\r' },
  ],
  ['Google Sheets, CSV', 'uploadCustomers', CUSTOMERS, GOOGLE],
  ['Google Sheets, TSV', 'uploadCustomers', CUSTOMERS, { ...GOOGLE, separator: '\t' }],
  ['LibreOffice, CSV', 'uploadCustomers', CUSTOMERS, LIBRE],
  ['LibreOffice, every cell quoted', 'uploadCustomers', CUSTOMERS, { ...LIBRE, quotesAll: true }],
  ['LibreOffice, semicolons', 'uploadCustomers', CUSTOMERS, { ...LIBRE, separator: ';', quotesAll: true }],
  ['LibreOffice, pipes', 'uploadCustomers', CUSTOMERS, { ...LIBRE, separator: '|' }],
  [
    'LibreOffice, UTF-16',
    'uploadCustomers',
    CUSTOMERS,
    { ...LIBRE, encoding: 'UTF-16LE with BOM', quotesAll: true },
  ],
  ['a Java program, UTF-16 big endian', 'uploadCustomers', CUSTOMERS, { encoding: 'UTF-16BE with BOM' }],
  ['LibreOffice, Windows-1252', 'uploadCustomers', CUSTOMERS, { ...LIBRE, encoding: 'Windows-1252' }],
  ['Numbers, CSV', 'uploadCustomers', CUSTOMERS, { encoding: 'UTF-8', endsLastLine: false }],
  [
    'Numbers, with the name of the table',
    'uploadCustomers',
    [['Table 1'], ...CUSTOMERS],
    { encoding: 'UTF-8', lineEnd: '\r\n' },
  ],
  [
    'Numbers in Spanish, with blank rows',
    'uploadCustomers',
    [...CUSTOMERS, ['', '', '', ''], ['', '', '', '']],
    { encoding: 'UTF-8', separator: ';' },
  ],
  [
    'a padded title and a blank row above the header',
    'uploadCustomers',
    [['Customers, November', '', '', ''], ['', '', '', ''], ...CUSTOMERS],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
  ],
  [
    'columns in another order and further ones',
    'uploadCustomers',
    CUSTOMERS.map(([code = '', first = '', last = '', branch = ''], n) => [
      branch,
      n === 0 ? 'Phone' : '876 555 0100',
      code,
      last,
      first,
    ]),
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
  ],
  [
    'names in Spanish',
    'uploadCustomers',
    [
      ['Sucursal', 'Apellidos', 'Nombres', 'Código'],
      ...CUSTOMERS.slice(1)
        .map((row) => [...row].reverse())
        .map(([a = '', b = '', c = '', d = '']) => [a, b, c, d]),
    ],
    { ...EXCEL, encoding: 'UTF-8 with BOM', separator: ';' },
  ],
  [
    'a header that no name is known of',
    'uploadCustomers',
    [['Kunde', 'Vorname', 'Nachname', 'Ort'], ...CUSTOMERS.slice(1)],
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
  ],
  [
    'pre-alerts, Excel for Windows, CSV',
    'uploadPrealerts',
    PREALERTS,
    { ...EXCEL, encoding: 'Windows-1252' },
  ],
  [
    'pre-alerts, Excel for Windows, Unicode text',
    'uploadPrealerts',
    PREALERTS,
    { ...EXCEL, encoding: 'UTF-16LE with BOM', separator: '\t' },
  ],
  [
    'pre-alerts, Excel for Windows in Spanish',
    'uploadPrealerts',
    SPANISH,
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
  ],
  [
    'pre-alerts, Excel for Mac, CSV UTF-8 in Spanish',
    'uploadPrealerts',
    SPANISH,
    { encoding: 'UTF-8 with BOM', separator: ';', lineEnd: '\r' },
  ],
  ['pre-alerts, Google Sheets', 'uploadPrealerts', PREALERTS, GOOGLE],
  ['pre-alerts, LibreOffice, quoted', 'uploadPrealerts', PREALERTS, { ...LIBRE, quotesAll: true }],
  [
    'pre-alerts, Numbers, with the name of the table and blank rows',
    'uploadPrealerts',
    [['Table 1'], ...PREALERTS, ['', '', '', '']],
    { encoding: 'UTF-8' },
  ],
  [
    'pre-alerts, a title and sep=',
    'uploadPrealerts',
    [['Week 48'], ...PREALERTS],
    { ...EXCEL, encoding: 'Windows-1252', separator: ';', firstLine: 'sep=;' },
  ],
];

const SEPARATORS = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' };
const isBlank = (row: string[]) => row.every((cell) => cell === '');

describe('files of spreadsheet programs that are read', () => {
  test.each(READ)('%s', async (_name, id, table, dialect) => {
    const header = table.findIndex((row) => /code|código|kunde|mailbox|casillero/i.test(row.join()));
    const body = table.slice(header + 1);
    const rows = body.filter((row) => !isBlank(row));
    const file = writeTable(table, dialect);
    const expected = {
      processed: rows.length,
      created: rows.length,
      skipped: body.length - rows.length,
      file: {
        encoding: readEncoding(table, dialect),
        separator: SEPARATORS[dialect.separator ?? ','],
        header_row: header + 1 + (dialect.firstLine === undefined ? 0 : 1),
      },
    };
    const checked = (await upload(id, file, true).ok()).data;
    expect(checked).toMatchObject({ ...expected, dry_run: true });
    const { dry_run: _, ...check } = checked;
    expect((await upload(id, file).ok()).data).toMatchObject({ ...check, dry_run: false });
    const codes = check.warnings.map(({ code }) => code);
    expect(codes.includes('encoding_guessed')).toBe(check.file.encoding === 'Windows-1252');
    expect(codes.includes('rows_above_header')).toBe(expected.file.header_row > 1);
    if (id === 'uploadCustomers') await expectCustomers(rows.length === 3 && dialectIsAscii(table));
    else await expectPrealerts();
  });
});

/** A text without accents is UTF-8 in each of these encodings. */
function readEncoding(table: string[][], { encoding }: Dialect): string {
  if (/^[ -~]*$/.test(table.flat().join(''))) return encoding.startsWith('UTF-16') ? 'UTF-16LE' : 'UTF-8';
  return encoding.replace(' with BOM', '');
}

const dialectIsAscii = (table: string[][]) => /^[ -~]*$/.test(table.flat().join(''));

async function expectCustomers(isAscii: boolean): Promise<void> {
  const rows = await db.query(
    "select user_code, first_name, last_name, branch from customers where user_code like 'SHEET-%' order by user_code",
  );
  expect(rows.map((row) => Object.values(row))).toEqual((isAscii ? ASCII : CUSTOMERS).slice(1));
}

async function expectPrealerts(): Promise<void> {
  const rows = await db.query(
    "select tracking_number, user_code, vendor, description from prealerts where tracking_number like 'SHEET%' order by tracking_number",
  );
  expect(rows.map((row) => Object.values(row))).toEqual(PREALERTS.slice(1));
}
