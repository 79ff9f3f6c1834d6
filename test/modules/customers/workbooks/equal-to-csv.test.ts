import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import Papa from 'papaparse';
import { escapeXml, inlineRows, lettersOf, workbookOf } from '../../../support/workbooks/workbook-of.js';
import { withService } from '../../../support/fixture/with-service.js';
import { multipart } from '../../../support/fixture/sent.js';
import { rounds } from '../../../support/harness/effort.js';

const { api } = withService();

const SHEETS = rounds(25, 300);
let sheets = 0;

const special = fc.constantFrom(
  '00123',
  '9.4E+21',
  '#N/A',
  '#####',
  '="00123"',
  '3-Jan',
  'a\nb',
  'x'.repeat(300),
  ' ',
  '=1+1',
  '1Z999AA10123456784',
  '9400111899223100001236',
);
const words = fc
  .string({ unit: 'grapheme', maxLength: 12 })
  .filter((text) => text.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}\ufeff]|_x/u.test(text));
const cell = fc.oneof(special, words, words);
/** Not blank: an empty row of a workbook is an empty line of its CSV file, and no row of commas. */
const code = fc.oneof(special, fc.nat(99_999).map(String)).filter((text) => text.trim() !== '');

/** The same rows with shared texts, and without references. */
function sharedWorkbook(rows: string[][]): Buffer {
  const shared = [...new Set(rows.flat())];
  const data = rows.map((cells, row) => {
    const written = cells.map((text, column) =>
      text === '' ? '' : `<c r="${lettersOf(column)}${row + 1}" t="s"><v>${shared.indexOf(text)}</v></c>`,
    );
    return `<row>${written.join('')}</row>`;
  });
  return workbookOf({
    sheets: [{ data: data.join('') }],
    shared: shared.map((text) => `<t xml:space="preserve">${escapeXml(text)}</t>`),
  });
}

const forms = {
  inline: (rows: string[][]) => workbookOf({ sheets: [{ data: inlineRows(rows) }] }),
  shared: sharedWorkbook,
};

test.each([
  ['uploadCustomers', ['user_code', 'first_name', 'last_name', 'branch']],
  ['uploadPrealerts', ['tracking_number', 'user_code', 'vendor', 'description', 'reference']],
] as const)(
  `%s reads ${SHEETS} random sheets as it reads their CSV files`,
  async (operation, header) => {
    const send = async (as: 'iex' | 'hrb', file: string | Buffer) => {
      const form = multipart({ file: { file }, dry_run: 'true' });
      const { status, body } = await api.as(as)[operation](form).answer();
      const { file: _file, ...data } = (body['data'] ?? {}) as Record<string, unknown>;
      return { status, data, errors: body['errors'] };
    };
    const row = fc.tuple(
      code,
      fc.array(cell, { minLength: header.length - 1, maxLength: header.length - 1 }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('inline', 'shared'),
        fc.boolean(),
        async (found, form, hasTitle) => {
          const table = [[...header], ...found.map(([first, others]) => [first, ...others])];
          const rows = hasTitle ? [['List', ...header.slice(1).map(() => '')], ...table] : table;
          // In turns: on a slow machine, so many workbooks need more than the time of one courier for an hour.
          const as = (sheets += 1) % 2 === 0 ? 'iex' : 'hrb';
          expect(await send(as, forms[form](rows))).toEqual(await send(as, Papa.unparse(rows)));
        },
      ),
      { numRuns: SHEETS },
    );
  },
  120_000,
);
