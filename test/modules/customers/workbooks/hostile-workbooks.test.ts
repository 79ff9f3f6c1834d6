import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeWorkbookReader } from '../../../../src/platform/files/workbook/read-workbook.js';
import { readWorkbookFile } from '../../../../src/platform/files/workbook/workbook-csv.js';
import { inlineRows, textWorkbook, workbookOf } from '../../../support/workbooks/workbook-of.js';

// Small files that occupied the only reader of workbooks for a minute.

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const DOC = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** 255 characters of a format with a section for texts, which cannot be read. Reading it takes 0.3 ms. */
const UNREADABLE = `@${'z'.repeat(253)}"`;
const ROWS = inlineRows([
  ['user_code', 'first_name', 'last_name'],
  ['W-1', 'Ann', 'Lee'],
]);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
});

afterAll(() => rm(folder, { recursive: true }));

async function stored(name: string, content: Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Returns what the process returns, and the CPU time in milliseconds. */
async function readHere(content: Buffer) {
  const path = await stored('here.xlsx', content);
  const start = process.cpuUsage();
  const read = await readWorkbookFile(path);
  const cpuMs = process.cpuUsage(start).user / 1_000;
  // A failed test would print all bytes.
  return { read: 'problem' in read ? read : { found: { ...read.found, csv: undefined } }, cpuMs };
}

const textCells = (count: number): Buffer =>
  workbookOf({
    sheets: [{ data: `<row>${'<c s="1" t="s"><v>0</v></c>'.repeat(10)}</row>`.repeat(count / 10) }],
    shared: ['<t>a</t>'],
    formats: [UNREADABLE],
  });

test('a format that cannot be read is read once for all cells with texts', async () => {
  const { read, cpuMs } = await readHere(textCells(20_000));
  expect(read).toMatchObject({ found: { width: 10 } });
  // 150 ms. Read again for each cell, 6,000 ms.
  expect(cpuMs).toBeLessThan(2_000);
});

const manyStyles = (count: number): Buffer =>
  workbookOf({
    sheets: [{ data: ROWS }],
    parts: {
      'xl/styles.xml': `<styleSheet ${MAIN}><numFmts><numFmt numFmtId="200" formatCode="${UNREADABLE.replace('"', '&quot;')}"/></numFmts><cellXfs>${'<xf numFmtId="200"/>'.repeat(count)}</cellXfs></styleSheet>`,
    },
  });

test('a format that cannot be read is read once for all cell formats, of which 65,490 are allowed', async () => {
  const most = await readHere(manyStyles(65_490));
  expect(most.read).toMatchObject({ found: { width: 3 } });
  // 200 ms. Read again for each cell format, 20,000 ms.
  expect(most.cpuMs).toBeLessThan(2_000);
  const { read } = await readHere(manyStyles(65_491));
  expect(read).toEqual({ problem: ['workbook_large', { limit: '65,490 cell formats' }] });
});

/** A cell for each of many formats that cannot be read. */
function manyFormats(count: number): Buffer {
  const formats = Array.from({ length: count }, (_, n) => `@${String(n).padStart(6, 'z')}"`);
  const rows = formats.map((_, n) => `<row><c s="${n + 1}" t="str"><v>a</v></c></row>`);
  return workbookOf({ sheets: [{ data: rows.join('') }], formats });
}

test('cells may have 1,000 number formats', async () => {
  expect((await readHere(manyFormats(1_000))).read).toMatchObject({ found: { width: 1 } });
  const { read } = await readHere(manyFormats(1_001));
  expect(read).toEqual({ problem: ['workbook_large', { limit: '1,000 number formats' }] });
});

/** Sheets that all name one part. */
const sheetsOfOnePart = (count: number, data: string): Buffer =>
  workbookOf({
    sheets: [{ data }],
    parts: {
      'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${DOC}"><sheets>${Array.from({ length: count }, (_, n) => `<sheet name="S${n}" sheetId="${n + 1}" r:id="rId1"/>`).join('')}</sheets></workbook>`,
    },
  });

test('a part that many sheets name is read once, and a workbook may have 1,000 sheets', async () => {
  const filled = await readHere(sheetsOfOnePart(1_000, ROWS));
  expect(filled.read).toMatchObject({ found: { sheet: 'S0', otherSheets: [] } });
  const blank = await readHere(sheetsOfOnePart(1_000, '<row/>'.repeat(20_000)));
  expect(blank.read).toEqual({ problem: ['workbook_empty'] });
  // 50 ms. Read for each sheet, the part would exceed 100 MiB.
  expect(blank.cpuMs).toBeLessThan(2_000);
  const { read } = await readHere(sheetsOfOnePart(1_001, ROWS));
  expect(read).toEqual({ problem: ['workbook_large', { limit: '1,000 sheets' }] });
});

test('another courier waits for no longer than its limit while the largest of these is read', async () => {
  const read = makeWorkbookReader();
  const closed = new AbortController().signal;
  const send = (courierId: string, path: string) =>
    read({ tenantId: 'tenant', courierId }, { path, name: '', sizeBytes: 0, closed });
  const hostile = await stored('hostile.xlsx', textCells(990_000));
  const small = await stored('small.xlsx', textWorkbook([['user_code', 'first_name', 'last_name']]));
  // On a busy machine, it may exceed its time.
  const attacks = [send('attacker', hostile), send('attacker', hostile)].map((each) =>
    each.catch(() => undefined),
  );
  expect((await send('victim', small)).width).toBe(3);
  await Promise.all(attacks);
}, 120_000);
