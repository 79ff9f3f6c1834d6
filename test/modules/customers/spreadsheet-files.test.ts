import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeParcels } from '../../support/builders/parcels.js';
import { writeTable, type Dialect } from '../../support/samples/spreadsheets.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { service } = withService();
beforeAll(async () => {
  parcels = makeParcels(service());
}, 60_000);
let parcels: ReturnType<typeof makeParcels>;

beforeEach(async () => {
  await service().owner.query("delete from customers where user_code like 'SHEET-%'");
  await service().owner.query("delete from prealerts where tracking_number like 'SHEET%'");
});

type Import = 'uploadCustomers' | 'uploadPrealerts';

const upload = (id: Import, file: Buffer, dryRun = false): Promise<Reply> =>
  service().call(id, { as: 'iex', form: { file: { file }, ...(dryRun ? { dry_run: 'true' } : {}) } });

/** Names with the accents of Spanish, French and Portuguese, an apostrophe, a separator and quotes. */
const CUSTOMERS = [
  ['user_code', 'first_name', 'last_name', 'branch'],
  ['SHEET-1', 'José', 'Peña', 'Kingston'],
  ['SHEET-2', 'María Inés', 'García Núñez', 'May Pen, Clarendon'],
  ['SHEET-3', 'Renée', "O'Neil", 'The "Mall"; Portmore'],
];
const ASCII = CUSTOMERS.map((row) => row.map((cell) => cell.normalize('NFD').replace(/\p{M}/gu, '')));
const PREALERTS = [
  ['Tracking Number', 'Mailbox', 'Shop', 'Contents'],
  ['SHEET1Z999AA1', 'IEX-1001', 'Café Olé', 'Shoes, size 9'],
  ['SHEET1Z999AA2', 'IEX-1002', 'Example "Books"', 'Año nuevo'],
];
const SPANISH = [['Nº de Guía', 'Casillero', 'Tienda', 'Descripción'], ...PREALERTS.slice(1)];

const EXCEL = { lineEnd: '\r\n' } as const;
const GOOGLE = { encoding: 'UTF-8', lineEnd: '\r\n', endsLastLine: false } as const;
const LIBRE = { encoding: 'UTF-8', lineEnd: '\n' } as const;

type Case = [name: string, id: Import, table: string[][], dialect: Dialect];

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
    const checked = await upload(id, file, true);
    expect(checked).toMatchObject({ status: 200, body: { data: { ...expected, dry_run: true } } });
    const { dry_run: _, ...check } = checked.body['data'];
    const reply = await upload(id, file);
    expect(reply).toMatchObject({ status: 200, body: { data: { ...check, dry_run: false } } });
    const codes = check.warnings.map(({ code }: { code: string }) => code);
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
  const { rows } = await service().owner.query(
    "select user_code, first_name, last_name, branch from customers where user_code like 'SHEET-%' order by user_code",
  );
  expect(rows.map(Object.values)).toEqual((isAscii ? ASCII : CUSTOMERS).slice(1));
}

async function expectPrealerts(): Promise<void> {
  const rows = await parcels.select(
    "select tracking_number, user_code, vendor, description from prealerts where tracking_number like 'SHEET%' order by tracking_number",
  );
  expect(rows.map((row) => Object.values(row as object))).toEqual(PREALERTS.slice(1));
}

const REFUSED: [...Case, field: string, words: RegExp][] = [
  [
    'Excel for Mac, CSV in Mac Roman',
    'uploadCustomers',
    CUSTOMERS,
    { encoding: 'Mac Roman', lineEnd: '\r' },
    'file',
    /CSV UTF-8/,
  ],
  [
    'Excel for Windows, CSV Macintosh',
    'uploadPrealerts',
    PREALERTS,
    { encoding: 'Mac Roman', lineEnd: '\r', separator: ';' },
    'file',
    /CSV UTF-8/,
  ],
  ['Excel for Windows, CSV MS-DOS', 'uploadCustomers', CUSTOMERS, { encoding: 'CP850' }, 'file', /CSV UTF-8/],
  [
    'long numbers from Excel',
    'uploadPrealerts',
    [...PREALERTS, ['9.40011E+21', 'IEX-1001', '', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'tracking_number',
    /Row 4: tracking_number is 9\.40011E\+21.*column as text/,
  ],
  [
    'long numbers from Excel in Spanish',
    'uploadPrealerts',
    [...SPANISH, ['9,40011E+21', 'IEX-1001', '', '']],
    { ...EXCEL, encoding: 'Windows-1252', separator: ';' },
    'tracking_number',
    /Row 4: .*column as text/,
  ],
  [
    'codes that Excel made numbers',
    'uploadCustomers',
    [...CUSTOMERS, ['1.23457E+11', 'Ann', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'user_code',
    /Row 5: user_code is 1\.23457E\+11/,
  ],
  [
    'codes that Excel made dates',
    'uploadCustomers',
    [...CUSTOMERS, ['3-Jan', 'Ann', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
    'user_code',
    /Row 5: user_code is 3-Jan, a date/,
  ],
  [
    'a formula that failed',
    'uploadCustomers',
    [...CUSTOMERS, ['SHEET-9', '#NAME?', 'Lee', '']],
    { ...EXCEL, encoding: 'UTF-8 with BOM' },
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
    'file',
    /tracking_number.*Month \| Parcels/,
  ],
];

describe('files of spreadsheet programs that are refused, and store nothing', () => {
  test.each(REFUSED)('%s', async (_name, id, table, dialect, field, words) => {
    for (const dryRun of [true, false]) {
      const reply = await upload(id, writeTable(table, dialect), dryRun);
      expect([reply.status, reply.body['errors'][0].field]).toEqual([400, field]);
      expect(reply.body['errors'][0].message).toMatch(words);
    }
    const { rows } = await service().owner.query("select from customers where user_code like 'SHEET-%'");
    expect(rows).toEqual([]);
  });
});
