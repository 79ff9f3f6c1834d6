import { expect, test } from '@jest/globals';
import { inlineRows, workbookOf } from '../../../support/workbooks/workbook-of.js';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';

// An escape in a text of a workbook can name half of a surrogate pair. Stored as U+FFFD, different codes would be one.

const { api, db } = withService();

const NAMES = inlineRows([['user_code', 'first_name', 'last_name', 'branch', 'other']]);
const cell = (reference: string, text: string) =>
  `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;
const withCells = (cells: string, more: Partial<Parameters<typeof workbookOf>[0]> = {}) =>
  workbookOf({ sheets: [{ data: `${NAMES}<row r="2">${cells}</row>` }], ...more });
const ANN = cell('B2', 'Ann') + cell('C2', 'Lee');

const upload = (file: Buffer) => api.as('iex').uploadCustomers(multipart({ file: { file } }));

test.each<[string, Buffer, string]>([
  ['a code', withCells(cell('A2', 'S_xD800_R') + ANN), 'A2'],
  ['the other half', withCells(cell('A2', 'S_xDFFF_R') + ANN), 'A2'],
  ['a wrong order', withCells(cell('A2', '_xDE00__xD83D_') + ANN), 'A2'],
  ['a name', withCells(cell('A2', 'W-1') + cell('B2', '_xd83d_') + cell('C2', 'Lee')), 'B2'],
  ['a column that is not read', withCells(`${cell('A2', 'W-1')}${ANN}${cell('AB2', '_xD800_')}`), 'AB2'],
  ['a shared text', withCells(`<c r="A2" t="s"><v>0</v></c>${ANN}`, { shared: ['<t>_xD800_</t>'] }), 'A2'],
  ['a formula', withCells(`<c r="A2" t="str"><v>_xD800_</v></c>${ANN}`), 'A2'],
])('%s with half of a character is refused with the cell', async (_name, file, reference) => {
  const reply = await upload(file).answer();
  expect([reply.status, reply.errors.map(({ field, code }) => [field, code])]).toEqual([
    400,
    [['file', 'format']],
  ]);
  expect(reply.message).toContain(`whose cell ${reference} has half of a character`);
});

test.each([
  ['a character reference', cell('A2', '&#xD800;')],
  ['a decimal reference', cell('A2', '&#55296;')],
])('%s of half of a character is no XML', async (_name, code) => {
  expect((await upload(withCells(code + ANN)).answer()).message).toMatch(/damaged or incomplete/);
});

test('both halves are one character', async () => {
  await upload(withCells(cell('A2', 'W-_xD83D__xDE00_') + ANN)).ok();
  expect(await db.query("select user_code from customers where user_code like 'W-%'")).toEqual([
    { user_code: 'W-😀' },
  ]);
});
