import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCellWriters } from '../../../../src/platform/files/workbook/cell-text.js';
import { readWorkbookFile } from '../../../../src/platform/files/workbook/workbook-csv.js';
import { inlineRows, workbookOf } from '../../../support/workbooks/workbook-of.js';

// The process that reads a workbook takes its memory from the machine. So nothing of a workbook may be long.

const LONGEST = 32_767;
const CELL = { problem: ['workbook_large', { limit: '32,767 characters in one cell' }] };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'long-cells-'));
});

afterAll(() => rm(folder, { recursive: true }));

type Book = Parameters<typeof workbookOf>[0];

/** Returns the problem, or the number of bytes of the CSV. */
async function read(data: string, more: Partial<Book> = {}) {
  const path = join(folder, 'book.xlsx');
  await writeFile(path, workbookOf({ sheets: [{ data }], ...more }));
  const found = await readWorkbookFile(path);
  return 'problem' in found ? found : found.found.csv.length;
}

const row = (cell: string) => `<row r="1">${cell}</row>`;
const x = (count: number) => 'x'.repeat(count);

const KINDS: [what: string, make: (text: string) => [data: string, more?: Partial<Book>]][] = [
  ['an inline text', (text) => [row(`<c r="A1" t="inlineStr"><is><t>${text}</t></is></c>`)]],
  [
    'an inline text in pieces',
    (text) => [
      row(
        `<c r="A1" t="inlineStr"><is><r><t>${text.slice(0, 20_000)}</t></r><r><t>${text.slice(20_000)}</t></r></is></c>`,
      ),
    ],
  ],
  ['a shared text', (text) => [row('<c r="A1" t="s"><v>0</v></c>'), { shared: [`<t>${text}</t>`] }]],
  ['the result of a formula', (text) => [row(`<c r="A1" t="str"><v>${text}</v></c>`)]],
  ['an error value', (text) => [row(`<c r="A1" t="e"><v>${text}</v></c>`)]],
  ['a number that is none', (text) => [row(`<c r="A1"><v>${text}</v></c>`)]],
  ['a date that is none', (text) => [row(`<c r="A1" t="d"><v>${text}</v></c>`)]],
];

describe.each(KINDS)('%s', (_what, make) => {
  test('of 32,767 characters is read', async () => {
    expect(await read(...make(x(LONGEST)))).toBe(LONGEST + 1);
  });

  test.each([LONGEST + 1, 7 * LONGEST + 1, 3 * 1024 * 1024])('of %i characters is refused', async (count) => {
    expect(await read(...make(x(count)))).toEqual(CELL);
  });
});

test('the longest text may be escaped, and counts as what it is', async () => {
  const escaped = (count: number) => row(`<c r="A1" t="str"><v>${'_x0041_'.repeat(count)}</v></c>`);
  expect(await read(escaped(LONGEST))).toBe(LONGEST + 1);
  expect(await read(escaped(LONGEST + 1))).toEqual(CELL);
});

test.each([
  ['a format that repeats it', '@'.repeat(255)],
  ['a format that repeats it as General', `0;0;0;${'General '.repeat(30)}`],
])('a text that %s makes too long is refused before it is written', async (_what, format) => {
  const cell = (count: number) => row(`<c r="A1" t="str" s="1"><v>Ā${x(count - 1)}</v></c>`);
  expect(await read(cell(LONGEST), { formats: [format] })).toEqual(CELL);
  expect(await read(cell(100), { formats: [format] })).toBeGreaterThan(100);
  // The cell is examined afterwards too, when the text is written.
  const { writeText } = makeCellWriters([format], false);
  expect(() => writeText(x(LONGEST), 0)).toThrow('workbook_large');
});

test('a format with one text lengthens it by itself only', async () => {
  const cell = row(`<c r="A1" t="str" s="1"><v>${x(1_000)}</v></c>`);
  expect(await read(cell, { formats: ['"MIA-"@'] })).toBe(1_005);
});

describe('between two tags there is no megabyte', () => {
  const MIB = 1024 * 1024;
  const ROWS = inlineRows([['a', 'b']]);

  test.each([
    ['an attribute', `<row r="1" spans="${x(MIB)}"><c r="A1"><v>1</v></c></row>`],
    ['a comment', `<!--${x(MIB)}-->${ROWS}`],
    ['spaces', ' '.repeat(MIB) + ROWS],
  ])('%s', async (_what, data) => {
    expect(await read(data)).toEqual(CELL);
  });
});

test('a workbook has no more relations than files inside', async () => {
  const relations = Array.from(
    { length: 2_001 },
    (_, n) => `<Relationship Id="x${n}" Type="t" Target="t${n}"/>`,
  );
  const parts = {
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${relations.join('')}</Relationships>`,
  };
  expect(await read(inlineRows([['a']]), { parts })).toEqual({
    problem: ['workbook_large', { limit: '2,000 files inside' }],
  });
});
