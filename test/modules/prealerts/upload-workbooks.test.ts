import { zipSync } from 'fflate';
import { expect, test } from '@jest/globals';
import { inlineRows, textWorkbook, workbookOf } from '../../support/workbooks/workbook-of.js';
import { newNumber } from '../../support/builders/parcels.js';
import { multipart } from '../../support/fixture/sent.js';
import { withService } from '../../support/fixture/with-service.js';

// The limit of time has tests of its own. On a busy machine, it would be reached before the others.
const { api, db } = withService({ workbooks: { taskMs: 60_000 } });

const send = (file: Buffer) => api.as('iex').uploadPrealerts(multipart({ file: { file } }));
const HEADER = ['Guía', 'Casillero', 'Tienda'];

test('stores the rows of a workbook, and names the sheet', async () => {
  const number = newNumber();
  const { data, body } = await send(textWorkbook([HEADER, [number, 'IEX-1001', '2026']])).ok();
  expect(data).toMatchObject({
    processed: 1,
    created: 1,
    file: { format: 'xlsx', sheet: 'Sheet1', header_row: 1 },
  });
  expect(body['message']).toBe(
    'Sheet "Sheet1" was read. Rows processed: 1. Pre-alerts created: 1, duplicate: 0, repeated: 0.',
  );
  expect(await db.count('prealerts', { tracking_number: number })).toBe(1);
});

test('refuses numbers that a spreadsheet has damaged, with the rows, and stores nothing', async () => {
  const cells = ['<v>9.4001118992231E+21</v>', '<v>4206000000000012</v>', '<v>123456789012</v>'].map(
    (value, n) =>
      `<row r="${n + 2}"><c r="A${n + 2}">${value}</c><c r="B${n + 2}" t="inlineStr"><is><t>IEX-1001</t></is></c></row>`,
  );
  const dated =
    '<row r="5"><c r="A5" s="1"><v>46355</v></c><c r="B5" t="inlineStr"><is><t>IEX-1001</t></is></c></row>';
  const data = inlineRows([HEADER]) + cells.join('') + dated;
  const before = await db.count('prealerts', {});
  const reply = await send(workbookOf({ sheets: [{ data }], formats: ['mmm-yy'] })).answer();
  expect(reply.status).toBe(400);
  expect(reply.errors.map(({ row, field }) => `${row} ${field}`)).toEqual([
    '2 tracking_number',
    '3 tracking_number',
    '5 tracking_number',
  ]);
  expect(await db.count('prealerts', {})).toBe(before);
});

test.each<[string, Buffer, string, RegExp]>([
  ['no workbook', Buffer.from(zipSync({})), 'format', /archive without a workbook/],
  ['a password', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'format', /old kind \(\.xls\) or has a password/],
  ['damage', textWorkbook([HEADER]).subarray(0, 900), 'format', /damaged or incomplete/],
  ['no sheet', workbookOf({ sheets: [] }), 'format', /without a visible sheet/],
  [
    'too many cells',
    workbookOf({ sheets: [{ data: `<row>${'<c><v>1</v></c>'.repeat(10_000)}</row>`.repeat(101) }] }),
    'maxLength',
    /1,000,000 cells/,
  ],
  [
    'half of a character',
    textWorkbook([HEADER, ['1Z_xD800_', 'IEX-1001', '2026']]),
    'format',
    /whose cell A2 has half of a character/,
  ],
])(
  'refuses a workbook with %s',
  async (_name, file, code, message) => {
    const reply = await send(file).answer();
    expect([reply.status, reply.errors.map(({ field, code: found }) => [field, found])]).toEqual([
      400,
      [['file', code]],
    ]);
    expect(reply.errors[0]?.message).toMatch(message);
  },
  60_000,
);
