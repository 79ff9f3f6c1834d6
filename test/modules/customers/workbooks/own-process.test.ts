import { expect, test } from '@jest/globals';
import { multipart } from '../../../support/fixture/sent.js';
import { withService } from '../../../support/fixture/with-service.js';
import { textWorkbook, workbookOf } from '../../../support/workbooks/workbook-of.js';

// What one workbook leaves in memory, or makes at once, reaches no other one and not the service.

const { api } = withService(() => ({ workbooks: { maxHeapMb: 24 } }));

const upload = (file: Buffer) =>
  api
    .as('iex')
    .uploadCustomers(multipart({ file: { file }, dry_run: 'true' }))
    .answer();

const HONEST = textWorkbook([
  ['user_code', 'first_name', 'last_name'],
  ['W-1', 'Ann', 'Lee'],
]);

/** 300 number formats of 255 characters. The library that reads them keeps 8 MB of them for ever. */
const manyFormats = (book: number): Buffer => {
  const formats = Array.from({ length: 300 }, (_, n) => {
    const letters = String.fromCodePoint(0x4e00 + book, 0x4e00 + n);
    return `\\${letters[0]}\\${letters[1]}${'h-'.repeat(125)}`;
  });
  const cells = formats.map((_, n) => `<row><c s="${n + 1}"><v>1</v></c></row>`);
  return workbookOf({ sheets: [{ data: cells.join('') }], formats });
};

test('the formats of many workbooks take no memory from the next one', async () => {
  // None has the names of columns.
  for (let book = 0; book < 6; book += 1) {
    const { status, errors } = await upload(manyFormats(book));
    expect([status, errors[0]?.message]).toEqual([400, expect.stringMatching(/None was read/)]);
  }
  expect((await upload(HONEST)).status).toBe(200);
}, 60_000);

test('a workbook whose texts take more memory at once than there is ends its own process, and is refused', async () => {
  // One letter outside Latin 1 doubles all others when the texts are joined.
  const cell = (text: number) => `<c t="s"><v>${text}</v></c>`;
  const row = (cells: string) => `<row>${cells}</row>`;
  const file = workbookOf({
    sheets: [{ data: row(cell(0)).repeat(310) + row(cell(1)) }],
    shared: [`<t>${'x'.repeat(32_000)}</t>`, '<t>李</t>'],
  });
  const reply = await upload(file);
  expect(reply.status).toBe(400);
  expect(reply.errors[0]?.message).toMatch(/too much time or memory/);
  expect((await upload(HONEST)).status).toBe(200);
});
