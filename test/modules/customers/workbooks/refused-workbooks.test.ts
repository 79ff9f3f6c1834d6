import { zipSync } from 'fflate';
import { describe, expect, test } from '@jest/globals';
import { inlineRows, textWorkbook, workbookOf } from '../../../support/workbooks/workbook-of.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makeUploads } from '../uploads/customer-files.js';

// The limit of time has tests of its own. On a busy machine, it would be reached before the others.
const fixture = withService({ workbooks: { taskMs: 60_000 } });
const { expectRefused } = makeUploads(fixture);

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const HEADER = ['user_code', 'first_name', 'last_name'];
const ROWS = [HEADER, ['W-1', 'Ann', 'Lee']];
const GOOD = textWorkbook(ROWS);
const text = (content: string) => new TextEncoder().encode(content);
const zip = (files: Record<string, string>) =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([path, content]) => [path, text(content)]))),
  );

/** The sheet's XML, instead of what is inside `sheetData`. */
const withSheet = (xml: string | Uint8Array) =>
  workbookOf({ sheets: [{ data: '' }], parts: { 'xl/worksheets/sheet1.xml': xml } });
const withData = (data: string, shared?: string[]) =>
  workbookOf({ sheets: [{ data: inlineRows([HEADER]) + data }], ...(shared ? { shared } : {}) });

/** Changes the entry of a part in the central directory. */
function patched(file: Buffer, path: string, change: (entry: Buffer) => void): Buffer {
  const copy = Buffer.from(file);
  const name = copy.lastIndexOf(path);
  const at = name - 46;
  expect(copy.readUInt32LE(at)).toBe(0x02014b50);
  change(copy.subarray(at));
  return copy;
}

/** Adds an entry a second time to the central directory. */
function withDuplicate(file: Buffer): Buffer {
  const end = file.lastIndexOf(Buffer.from('PK\u0005\u0006', 'latin1'));
  const start = file.readUInt32LE(end + 16);
  const length =
    46 + file.readUInt16LE(start + 28) + file.readUInt16LE(start + 30) + file.readUInt16LE(start + 32);
  const entry = file.subarray(start, start + length);
  const tail = Buffer.from(file.subarray(end));
  tail.writeUInt16LE(tail.readUInt16LE(8) + 1, 8);
  tail.writeUInt16LE(tail.readUInt16LE(10) + 1, 10);
  tail.writeUInt32LE(tail.readUInt32LE(12) + length, 12);
  return Buffer.concat([file.subarray(0, end), entry, tail]);
}

const refused = async (file: Buffer, message: RegExp, code = 'format') => {
  const reply = await expectRefused(file, [`file ${code}`]);
  expect(reply.body['message']).toMatch(message);
};

describe('other kinds of files are refused with what to save as instead', () => {
  test.each<[string, Buffer]>([
    [
      'an OpenDocument spreadsheet',
      zip({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet', 'content.xml': '<x/>' }),
    ],
    ['a text document', workbookOf({ sheets: [], parts: { 'xl/workbook.xml': '<document/>' } })],
    [
      'a binary workbook',
      workbookOf({
        sheets: [],
        parts: {
          '_rels/.rels':
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.bin"/></Relationships>',
        },
      }),
    ],
    ['an archive of a CSV file', zip({ 'customers.csv': 'user_code,first_name,last_name\n' })],
    ['an empty archive', Buffer.from(zipSync({}))],
    ['a workbook part that is missing', workbookOf({ sheets: [], parts: { 'xl/workbook.xml': undefined } })],
  ])('%s', (_name, file) => refused(file, /archive without a workbook.*Save it as \.xlsx .*or as CSV UTF-8/));

  test.each<[string, Buffer]>([
    [
      'a workbook of the old kind, or one with a password',
      Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(2_000)]),
    ],
    ['an archive with a password', patched(GOOD, 'xl/styles.xml', (entry) => entry.writeUInt16LE(1, 8))],
  ])('%s', (_name, file) => refused(file, /old kind \(\.xls\) or has a password.*CSV UTF-8/));
});

describe('damaged workbooks are refused', () => {
  const cell = (attributes: string, value = '<v>1</v>') => `<row r="2"><c ${attributes}>${value}</c></row>`;
  test.each<[string, Buffer]>([
    ['cut off', GOOD.subarray(0, GOOD.length - 30)],
    ['cut off in the middle', GOOD.subarray(0, 700)],
    [
      'a checksum that is wrong',
      patched(GOOD, 'xl/worksheets/sheet1.xml', (entry) => entry.writeUInt32LE(1, 16)),
    ],
    [
      'a size that is too small',
      patched(GOOD, 'xl/worksheets/sheet1.xml', (entry) => entry.writeUInt32LE(40, 24)),
    ],
    ['a part twice', withDuplicate(GOOD)],
    [
      'a path out of the archive',
      workbookOf({ sheets: [{ data: inlineRows(ROWS) }], parts: { '../../etc/passwd': 'x' } }),
    ],
    ['an absolute path', workbookOf({ sheets: [{ data: inlineRows(ROWS) }], parts: { '/etc/passwd': 'x' } })],
    [
      'a missing sheet',
      workbookOf({ sheets: [{ data: '' }], parts: { 'xl/worksheets/sheet1.xml': undefined } }),
    ],
    ['XML that ends early', withSheet(`<worksheet ${MAIN}><sheetData>${inlineRows(ROWS)}`)],
    ['XML that is not well-formed', withSheet(`<worksheet ${MAIN}><sheetData></worksheet></sheetData>`)],
    [
      'bytes that are not UTF-8',
      withSheet(Buffer.from(`<worksheet ${MAIN}><sheetData>\xff</sheetData></worksheet>`, 'latin1')),
    ],
    ['an unknown entity', withData('<row r="2"><c r="A2" t="str"><v>&nbsp;</v></c></row>')],
    [
      'elements nested deeply',
      withSheet(`<worksheet ${MAIN}>${'<a>'.repeat(65)}${'</a>'.repeat(65)}</worksheet>`),
    ],
    [
      'many attributes',
      withData(`<row r="2" ${Array.from({ length: 101 }, (_, n) => `a${n}=""`).join(' ')}/>`),
    ],
    ['a shared text that does not exist', withData(cell('r="A2" t="s"', '<v>7</v>'), ['<t>x</t>'])],
    ['rows out of order', withData('<row r="5"/><row r="4"/>')],
    ['a row twice', withData('<row r="1"/>')],
    ['cells out of order', withData('<row r="2"><c r="B2"/><c r="A2"/></row>')],
    ['a row beyond the last', withData('<row r="1048577"/>')],
    ['a column beyond the last', withData(cell('r="XFE2"'))],
    ['a reference that is none', withData(cell('r="2A"'))],
  ])('%s', (_name, file) => refused(file, /damaged or incomplete.*save it as \.xlsx again or as CSV UTF-8/));
});

describe('formulas whose results are not stored are refused', () => {
  const names =
    '<c r="B2" t="inlineStr"><is><t>Ann</t></is></c><c r="C2" t="inlineStr"><is><t>Lee</t></is></c>';
  const uncomputed = `<workbook ${MAIN} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="A" sheetId="1" r:id="rId1"/></sheets><calcPr calcId="124519" fullCalcOnLoad="1"/></workbook>`;
  test.each<[string, Buffer]>([
    ['in all cells of a row', withData('<row r="2"><c r="A2"><f>A1&amp;"1"</f><v></v></c></row>')],
    ['in a cell that may be blank', withData(`<row r="2">${names}<c r="D2"><f>B1</f></c></row>`)],
    [
      'by a program that stores 0 for each and has them computed when the file is opened',
      workbookOf({
        sheets: [
          { data: `${inlineRows([HEADER])}<row r="2"><c r="A2"><f>1+1</f><v>0</v></c>${names}</row>` },
        ],
        parts: { 'xl/workbook.xml': uncomputed },
      }),
    ],
  ])('%s', (_name, file) => refused(file, /formulas whose results are not stored.*save it as \.xlsx again/));
});

test('a document type is refused before an entity of it is expanded', async () => {
  const bomb = ['<!DOCTYPE sst [<!ENTITY a "aaaaaaaaaa">'];
  for (let n = 0; n < 30; n += 1)
    bomb.push(`<!ENTITY b${n} "${`&${n === 0 ? 'a' : `b${n - 1}`};`.repeat(10)}">`);
  const sst = `${bomb.join('')}]><sst ${MAIN}><si><t>&b29;</t></si></sst>`;
  const startedMs = performance.now();
  await refused(
    workbookOf({ sheets: [{ data: inlineRows(ROWS) }], shared: [], parts: { 'xl/sharedStrings.xml': sst } }),
    /damaged/,
  );
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

describe('workbooks that are too large are refused, and the message names the limit', () => {
  const MIB = 1024 * 1024;
  const spaces = new Uint8Array(101 * MIB).fill(32);

  test('more than 100 MiB of contents, before they are expanded', async () => {
    const file = withSheet(spaces);
    expect(file.length).toBeLessThan(MIB);
    await refused(file, /more than 100 MiB of contents.*CSV UTF-8/, 'maxLength');
  });

  test('more than 100 MiB in several parts', () => {
    const blank = `<sheetData/>${' '.repeat(500_000)}`.repeat(80);
    const sheet = Buffer.from(`<worksheet ${MAIN}>${blank}</worksheet>`);
    const sheets = [1, 2, 3].map(() => ({ data: '' }));
    const parts = Object.fromEntries(sheets.map((_, n) => [`xl/worksheets/sheet${n + 1}.xml`, sheet]));
    return refused(workbookOf({ sheets, parts, level: 1 }), /100 MiB of contents/, 'maxLength');
  }, 60_000);

  test('more than 2,000 files inside', () => {
    const parts = Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`xl/media/${n}.png`, 'x']));
    return refused(
      workbookOf({ sheets: [{ data: inlineRows(ROWS) }], parts }),
      /2,000 files inside/,
      'maxLength',
    );
  });

  test('more than 10 MiB of text, although the text is stored once', () => {
    // No row has too much.
    const rows = '<row><c t="s"><v>0</v></c></row>'.repeat(321);
    return refused(withData(rows, [`<t>${'x'.repeat(32_767)}</t>`]), /10 MiB of text/, 'maxLength');
  });

  test('more text in one row than a text of the service can be long', () => {
    const cells = '<c t="s"><v>0</v></c>'.repeat(16_384);
    const file = withData(`<row>${cells}</row>`, [`<t>${'x'.repeat(32_767)}</t>`]);
    expect(file.length).toBeLessThan(20_000);
    return refused(file, /10 MiB of text/, 'maxLength');
  });

  test('more text in one cell than a spreadsheet program allows, before the process has it', () => {
    // A text of 100 MiB that was copied, in a file of 131 KB, aborted the process.
    const piece = `Ā${'a'.repeat(8_190)}`;
    const text = `_x0041_${piece.repeat(Math.floor((99 * MIB) / (piece.length + 1)))}`;
    const file = withData(`<row><c t="str"><v>${text}</v></c></row>`);
    expect(file.length).toBeLessThan(300_000);
    return refused(file, /more than 32,767 characters in one cell/, 'maxLength');
  }, 60_000);

  test('more than 1,000,000 cells', () => {
    const row = `<row>${'<c><v>1</v></c>'.repeat(10_000)}</row>`;
    return refused(withData(row.repeat(101)), /1,000,000 cells/, 'maxLength');
  }, 60_000);

  test('more rows than a CSV file may have', () =>
    expectRefused(withData('<row r="1048576"><c><v>1</v></c></row>'), ['file maxItems']));
});

test.each<[string, Buffer]>([
  ['no sheet', workbookOf({ sheets: [] })],
  ['a blank sheet', workbookOf({ sheets: [{ data: '<row r="1"><c r="A1" s="0"/></row>' }] })],
  ['a hidden sheet alone', workbookOf({ sheets: [{ data: inlineRows(ROWS), state: 'hidden' }] })],
])('a workbook with %s is refused', (_name, file) =>
  refused(file, /without a visible sheet that has content/),
);
