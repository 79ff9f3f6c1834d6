import { beforeEach, describe, expect, test } from '@jest/globals';
import { utils, write } from 'xlsx';
import {
  inlineRows,
  textWorkbook,
  workbookOf,
  type SheetXml,
} from '../../../support/workbooks/workbook-of.js';
import { withService } from '../../../support/fixture/with-service.js';
import { counts, makeUploads } from '../uploads/customer-files.js';

// Workbooks as different programs write them. Each test proves the cells by the stored rows.

const fixture = withService();
const { service } = fixture;
const { upload, customersOf } = makeUploads(fixture);

beforeEach(async () => {
  await service().owner.query("delete from customers where user_code like 'W%' or user_code ~ '^[0-9]'");
});

const HEADER = ['user_code', 'first_name', 'last_name', 'branch'];
const ROWS = [HEADER, ['W-1', 'Ann & Bo', 'Lee', 'Kingston'], ['W-2', 'José', 'Ñandú "N"', '']];
const EXPECTED = [
  { user_code: 'W-1', first_name: 'Ann & Bo', last_name: 'Lee', branch: 'Kingston' },
  { user_code: 'W-2', first_name: 'José', last_name: 'Ñandú "N"', branch: null },
];

const head = inlineRows([HEADER]);
const withRow = (cells: string, more: Partial<Parameters<typeof workbookOf>[0]> = {}) =>
  workbookOf({ sheets: [{ data: `${head}<row r="2">${cells}</row>` }], ...more });
const names =
  '<c r="B2" t="inlineStr"><is><t>Ann</t></is></c><c r="C2" t="inlineStr"><is><t>Lee</t></is></c>';

const PREFIXED = [
  '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:dimension ref="A1"/><x:sheetData>',
  inlineRows(ROWS).replaceAll(/<(\/?)(row|c|is|t)\b/g, '<$1x:$2'),
  '</x:sheetData></x:worksheet>',
].join('');
const STRICT = `<worksheet xmlns="http://purl.oclc.org/ooxml/spreadsheetml/main"><sheetData>${inlineRows(ROWS)}</sheetData></worksheet>`;

const SHARED = ROWS.flat().map((text) => `<t>${text.replaceAll('&', '&amp;')}</t>`);
const sharedRows = ROWS.map(
  (cells, row) =>
    `<row>${cells.map((text, at) => (text === '' ? '<c s="0"/>' : `<c t="s"><v>${row * HEADER.length + at}</v></c>`)).join('')}</row>`,
).join('');

describe('accepts the shapes of different programs', () => {
  test.each<[string, Buffer]>([
    ['inline texts', textWorkbook(ROWS)],
    [
      'shared texts and no references of rows and cells',
      workbookOf({ sheets: [{ data: sharedRows }], shared: SHARED }),
    ],
    [
      'the library that writes exports',
      write(
        { SheetNames: ['Hoja 1'], Sheets: { 'Hoja 1': utils.aoa_to_sheet(ROWS) } },
        { type: 'buffer', bookType: 'xlsx', bookSST: true },
      ) as Buffer,
    ],
    [
      'prefixed elements',
      workbookOf({ sheets: [{ data: '' }], parts: { 'xl/worksheets/sheet1.xml': PREFIXED } }),
    ],
    [
      'the strict form',
      workbookOf({ sheets: [{ data: '' }], parts: { 'xl/worksheets/sheet1.xml': STRICT } }),
    ],
    ['stored files', workbookOf({ sheets: [{ data: inlineRows(ROWS) }], level: 0 })],
    [
      'no styles, and a path from the root',
      workbookOf({
        sheets: [{ data: inlineRows(ROWS) }],
        parts: {
          'xl/styles.xml': undefined,
          'xl/_rels/workbook.xml.rels':
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://x/worksheet" Target="/xl/worksheets/sheet1.xml"/></Relationships>',
        },
      }),
    ],
    [
      'rich texts, phonetic guides and escapes',
      workbookOf({
        sheets: [{ data: sharedRows }],
        shared: SHARED.map((si) =>
          si.includes('Lee')
            ? '<r><rPr><b/></rPr><t>L</t></r><r><t>ee</t></r><rPh sb="0" eb="1"><t>リー</t></rPh>'
            : si.replace('Ann', '_x0041_nn'),
        ),
      }),
    ],
  ])('%s', async (_name, file) => {
    expect(await upload(file, { name: 'anything.pdf', type: 'image/png' }).answer()).toMatchObject(
      counts({ processed: 2, created: 2 }),
    );
    expect(await customersOf('W-1', 'W-2')).toMatchObject(EXPECTED);
  });
});

describe('the cells are the texts of the CSV file of the sheet', () => {
  test.each<[string, string, string[], string]>([
    ['a number without a format', '<c r="A2"><v>123456789012345</v></c>', [], '123456789012345'],
    ['a number in scientific notation', '<c r="A2"><v>1.23456789012E11</v></c>', [], '123456789012'],
    ['leading zeros of a format', '<c r="A2" s="1"><v>123</v></c>', ['000000'], '000123'],
    ['words of a format', '<c r="A2" s="1"><v>12</v></c>', ['"W-"0000'], 'W-0012'],
    ['a formula', '<c r="A2" t="str"><f>"W-"&amp;1</f><v>W-9</v></c>', [], 'W-9'],
    ['a boolean', '<c r="A2" t="b"><v>1</v></c>', [], 'TRUE'],
    ['a boolean in words', '<c r="A2" t="b"><v>true</v></c>', [], 'TRUE'],
    [
      'words that a format adds to a text',
      '<c r="A2" s="1" t="inlineStr"><is><t>7X</t></is></c>',
      ['"W-"@'],
      'W-7X',
    ],
    ['a fourth section of a format', '<c r="A2" s="1" t="str"><v>8X</v></c>', ['0;-0;0;"W-"@'], 'W-8X'],
    ['a format for numbers alone', '<c r="A2" s="1" t="str"><v>W-5</v></c>', ['0.00;-0.00'], 'W-5'],
    ['a format as text', '<c r="A2" s="1" t="str"><v>W-6</v></c>', ['@'], 'W-6'],
    ['a format that cannot be read', '<c r="A2" s="1"><v>77</v></c>', ['[[[0'], '77'],
    ['a part of a number that is not shown', '<c r="A2"><v>0.1000000000000000055</v></c>', [], '0.1'],
  ])('%s', async (_name, cell, formats, code) => {
    await service().owner.query('delete from customers where user_code = any($1)', [['TRUE', '0.1']]);
    const reply = await upload(withRow(`${cell}${names}`, { formats })).answer();
    expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(await customersOf(code)).toMatchObject([{ first_name: 'Ann' }]);
  });

  test.each<[string, string, string[], RegExp]>([
    [
      'a number of more than 15 digits',
      '<c r="A2" s="1"><v>9.4001118992231E+21</v></c>',
      ['0'],
      /9\.4001118992231E\+21.*Format the column as text/,
    ],
    ['a number of 16 digits', '<c r="A2"><v>4206000000000012</v></c>', [], /4\.206000000000012E\+15/],
    ['decimals of a format', '<c r="A2" s="1"><v>1001</v></c>', ['0.00'], /1001\.00/],
    ['a date', '<c r="A2" s="1"><v>46355</v></c>', ['d-mmm'], /2026-11-29, a date/],
    [
      'a date in words of another language',
      '<c r="A2" s="1"><v>46355</v></c>',
      ['[$-C0A]dd" de "mmmm'],
      /2026-11-29, a date/,
    ],
    ['a time', '<c r="A2" s="1"><v>0.5</v></c>', ['h:mm'], /12:00, a date/],
    ['a date as text', '<c r="A2" t="d"><v>2026-11-29T00:00:00</v></c>', [], /2026-11-29, a date/],
    ['an error', '<c r="A2" t="e"><v>#N/A</v></c>', [], /#N\/A/],
  ])('refuses %s in the column of a code, with the row', async (_name, cell, formats, message) => {
    const reply = await upload(withRow(`${cell}${names}`, { formats })).answer();
    expect([reply.status, reply.errors.length, reply.errors[0]?.field]).toEqual([400, 1, 'user_code']);
    expect(reply.errors[0]?.['row']).toBe(2);
    expect(reply.errors[0]?.message).toMatch(message);
  });

  test('a formula whose result is an empty text leaves the cell blank', async () => {
    const cells = `<c r="A2" t="inlineStr"><is><t>W-7</t></is></c>${names}<c r="D2" t="str"><f>""</f><v></v></c>`;
    expect(await upload(withRow(cells)).answer()).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(await customersOf('W-7')).toMatchObject([{ branch: null }]);
  });

  test('a name of a sheet of half a megabyte is shown in part', async () => {
    const sheets = [{ name: 'n'.repeat(500_000), data: inlineRows(ROWS) }];
    const { file } = (await upload(workbookOf({ sheets })).ok()).data;
    expect(String(file.sheet).length).toBeLessThanOrEqual(260);
  });

  test('writes dates of both date systems as ISO 8601 where they are texts', async () => {
    const dated = (is1904: boolean, serial: number) =>
      withRow(`<c r="A2" t="inlineStr"><is><t>W-7</t></is></c>${names}<c r="D2" s="1"><v>${serial}</v></c>`, {
        formats: ['dd/mm/yyyy'],
        is1904,
      });
    for (const [is1904, serial, text] of [
      [false, 46_355, '2026-11-29'],
      [true, 46_355 - 1_462, '2026-11-29'],
      [false, 46_355.25, '2026-11-29T06:00:00'],
      [false, 1, '1900-01-01'],
      [false, -1, '#####'],
    ] as const) {
      expect((await upload(dated(is1904, serial)).answer()).status).toBe(200);
      expect(await customersOf('W-7')).toMatchObject([{ branch: text }]);
    }
  });
});

describe('the sheet', () => {
  const sheets: SheetXml[] = [
    { name: 'Secret', state: 'hidden', data: inlineRows([HEADER, ['W-S', 'a', 'b']]) },
    { name: 'Very', state: 'veryHidden', data: inlineRows([HEADER, ['W-V', 'a', 'b']]) },
    { name: 'Blank', data: '<row r="1"><c r="A1" s="0"/></row>' },
    { name: 'Clientes "A"', data: inlineRows([['Title'], [], HEADER, ['W-1', 'Ann', 'Lee', 'X']]) },
    { name: 'More', data: inlineRows([['W-X']]) },
    { name: 'Lists', state: 'hidden', data: inlineRows([['x']]) },
  ];

  test('is the first visible one with content, and others with content get a warning', async () => {
    const reply = await upload(workbookOf({ sheets })).answer();
    expect(reply).toMatchObject(counts({ processed: 1, created: 1 }));
    expect(reply.message).toContain('Sheet "Clientes "A"" was read. ');
    expect(reply.data['file']).toEqual({
      format: 'xlsx',
      sheet: 'Clientes "A"',
      header_row: 3,
      columns: expect.arrayContaining([{ column: 'branch', header: 'branch', position: 4 }]),
    });
    expect(reply.data['warnings']).toMatchObject([
      {
        code: 'sheets_skipped',
        message: expect.stringContaining('Other sheets have rows, too: More.'),
        rows: [],
      },
      { code: 'rows_above_header' },
    ]);
  });

  test('counts rows as the spreadsheet does, also behind rows that are left out', async () => {
    const row = (n: number, code: string) =>
      `<row r="${n}"><c r="A${n}" t="inlineStr"><is><t>${code}</t></is></c></row>`;
    const reply = await upload(workbookOf({ sheets: [{ data: `${head}${row(40, 'W-1')}` }] })).answer();
    expect(reply.errors).toMatchObject([
      { row: 40, field: 'first_name', code: 'blank' },
      { row: 40, field: 'last_name', code: 'blank' },
    ]);
  });

  test('reads rows without content below the table at no cost', async () => {
    const blank = Array.from({ length: 60_000 }, (_, n) => `<row r="${n + 5}"/>`).join('');
    const data = `${inlineRows(ROWS)}${blank}<row r="1048576"><c r="XFD1048576" s="0"/></row>`;
    expect(await upload(workbookOf({ sheets: [{ data }] })).answer()).toMatchObject(
      counts({ processed: 2, created: 2, skipped: 0 }),
    );
  });
});
