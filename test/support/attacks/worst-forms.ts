import { crc32 } from 'node:zlib';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { filesFor } from '../../contract/fuzz/files.js';
import { rounds } from '../harness/effort.js';
import { formShapes, operationOf, type FormShape } from '../service/contract.js';
import {
  assemble,
  BOUNDARY,
  MULTIPART_TYPE,
  toForm,
  toParts,
  type FormFields,
  type Part,
} from '../service/forms.js';
import { workbookOf } from '../workbooks/workbook-of.js';
import { filled, type WorstBody } from './worst-bodies.js';

const MIB = 1024 * 1024;

/** Returns the worst forms of each kind that an operation accepts. */
export function worstForms(id: OperationId): WorstBody[] {
  const { maxBodyBytes } = operationOf(id);
  return formShapes()
    .filter((shape) => shape.id === id)
    .flatMap((shape) =>
      shape.mediaType === MULTIPART_TYPE.split(';')[0]
        ? multiparts(shape)
        : urlEncoded(shape.mediaType, maxBodyBytes ?? MIB),
    );
}

function urlEncoded(contentType: string, limit: number): WorstBody[] {
  const texts: [string, string][] = [
    ['nameless pairs', filled('', '&', '', limit)],
    ['one name repeated', filled('', 'a&', '', limit)],
    ['distinct names', Array.from({ length: limit / 8 }, (_, n) => `${n.toString(36)}=`).join('&')],
    ['escapes', filled('action=', '%41', '', limit)],
    ['broken escapes', filled('action=', '%ff', '', limit)],
    ['plus signs', filled('action=', '+', '', limit)],
  ];
  return texts.map(([name, text]) => ({ name, contentType, bytes: Buffer.from(text.slice(0, limit)) }));
}

function multiparts({ id, schema, example }: FormShape): WorstBody[] {
  const { fileFields, maxFileBytes } = operationOf(id);
  const limit = maxFileBytes ?? 10 * MIB;
  const form = toForm(example, fileFields);
  const files = fileFields.flatMap((field) =>
    worstFiles(limit, filesFor(field, id)[0]).map(([name, file]): [string, Buffer] => [
      `${field}: ${name}`,
      assemble(
        toParts({ ...form, ...('dry_run' in schema.properties ? { dry_run: '1' } : {}), [field]: { file } }),
      ),
    ]),
  );
  return [...files, ...worstStructures(form, limit)].map(([name, bytes]) => ({
    name,
    contentType: MULTIPART_TYPE,
    bytes,
  }));
}

function worstStructures(form: FormFields, limit: number): [string, Buffer][] {
  const field = (name: string, content: string): Part => ({
    headers: [`Content-Disposition: form-data; name="${name}"`],
    content,
  });
  return [
    ['thousands of parts', assemble(Array.from({ length: 20_000 }, (_, n) => field(`f${n}`, 'x')))],
    ['a long text', assemble([...toParts(form), field('other', 'x'.repeat(limit / 2))])],
    ['a long header', assemble([{ headers: [`X: ${'x'.repeat(limit / 2)}`], content: 'x' }])],
    [
      'many headers',
      assemble([{ headers: Array.from({ length: 50_000 }, (_, n) => `X${n}: x`), content: 'x' }]),
    ],
    ['texts similar to the boundary', Buffer.from(filled('', `\r\n--${BOUNDARY.slice(1)}`, '', limit))],
  ];
}

function worstFiles(limit: number, good: unknown): [string, Buffer][] {
  const fill = (unit: string | Buffer, size = limit) => Buffer.alloc(size, unit);
  // A row per byte takes seconds of CPU at the limit, in pieces of a fixed size.
  const rowsLimit = Math.min(limit, rounds(0.5, 100) * MIB);
  const kinds: [string, Buffer][] = [
    ['line ends', fill('\n', rowsLimit)],
    ['carriage returns', fill('\r', rowsLimit)],
    ['commas', fill(',')],
    ['quotes', fill('"')],
    ['short rows', fill('a,b,c\n')],
    ['blank cells', fill('a,,\n')],
    ['wide rows', fill(`${','.repeat(60_000)}\n`)],
    ['wide rows of blank cells', fill(`${', '.repeat(30_000)}\n`)],
    ...quotedRows(rowsLimit),
    ...titleRows(limit),
    ['rows of a valid size', rowsOf(limit)],
    ['chunks of a PNG', pngOfChunks(limit)],
    ['segments of a JPG', jpegOf(limit, Buffer.from([0xff, 0xe0, 0, 2]))],
    ['scans of a JPG', jpegOf(limit, Buffer.from([0xff, 0xda, 0, 2]))],
    ['stuffed bytes of a JPG', jpegOf(limit, Buffer.from([0xff, 0]), Buffer.from([0xff, 0xda, 0, 2]))],
    ['elements of an SVG', Buffer.from(filled('<svg>', '<a>', '', Math.min(limit, 256 * 1024)))],
    ['attributes of an SVG', Buffer.from(filled('<svg ', 'a="" ', '/>', Math.min(limit, 256 * 1024)))],
  ];
  return typeof good === 'string' || Buffer.isBuffer(good)
    ? [...kinds, ['a valid file', Buffer.from(good)]]
    : kinds;
}

/** Rows of 64 KiB that begin with a quoted cell: quotes in it, then blanks. */
const quotedRows = (limit: number): [string, Buffer][] =>
  ['x"', ' "', '"x" '].flatMap((quotes) =>
    [' ', '\t', '\u3000'].map((blank): [string, Buffer] => {
      const row = `a,b,"${quotes.repeat(31_000 / quotes.length)}${blank.repeat(33_000)},z\n`;
      return [`${JSON.stringify(quotes)} before ${JSON.stringify(blank)}`, Buffer.alloc(limit, row)];
    }),
  );

/** The header is searched in the first twenty rows, each of at most 64 KiB. */
function titleRows(limit: number): [string, Buffer][] {
  const headers = ['user_code,first_name,last_name', 'tracking_number,user_code'];
  const above = (unit: string, header: string) => {
    const row = `${unit.repeat(65_000 / unit.length)}\n`;
    return Buffer.from(`${row.repeat(20)}${header}\nTITLE-1,Ann,Lee\n`).subarray(0, limit);
  };
  const wide = WIDE_TITLES.flatMap(([name, unit]): [string, Buffer][] => [
    [`titles of ${name} as CSV`, wideCsv(unit)],
    [`titles of ${name} as a workbook`, wideWorkbook(unit)],
  ]);
  const narrow = headers.flatMap((header): [string, Buffer][] => [
    // U+FDFA becomes 18 characters when its compatibility form is taken.
    [`titles of U+FDFA above ${header}`, above('\uFDFA', header)],
    [`titles of cells of U+FDFA above ${header}`, above('\uFDFA,', header)],
    [`titles of commas above ${header}`, above(',', header)],
    [`titles of words above ${header}`, above('Customers of November,', header)],
    [`titles of names above ${header}`, above('user_code,', header)],
  ]);
  return [...narrow, ...wide];
}

/** Cells of the maximum length of a name, and of lengths that are no name: 200 of them in a row are searched. */
export const WIDE_TITLES: [string, string][] = [
  ['200 cells of 100 x U+FDFA', '\uFDFA'.repeat(100)],
  ['200 cells of 57 x U+FDFA', '\uFDFA'.repeat(57)],
  // Four signs, and two marks that have an order.
  ['200 cells of 14 x U+2A0C', '\u2A0C'.repeat(14)],
  ['200 cells of 57 marks', `a${'\u0315\u0300'.repeat(28)}`],
];

const WIDE_ROWS = 25;
const WIDE_CELLS = 200;

export const wideCsv = (cell: string): Buffer =>
  Buffer.from(`${Array<string>(WIDE_CELLS).fill(cell).join(',')}\n`.repeat(WIDE_ROWS));

/** The same cells as a workbook of two kilobytes. */
export const wideWorkbook = (cell: string): Buffer =>
  workbookOf({
    sheets: [{ data: `<row>${'<c t="s"><v>0</v></c>'.repeat(WIDE_CELLS)}</row>`.repeat(WIDE_ROWS) }],
    shared: [`<t>${cell}</t>`],
  });

function rowsOf(limit: number): Buffer {
  const rows = Array.from({ length: 100_000 }, (_, n) => `WORST-${n},${'n'.repeat(30)},${'m'.repeat(30)}`);
  return Buffer.from(`user_code,first_name,last_name\n${rows.join('\n')}\n`).subarray(0, limit);
}

function pngOfChunks(limit: number): Buffer {
  const header = Buffer.from('0000000a0000000a0802000000', 'hex');
  const [start, end] = [chunkOf('IHDR', header), chunkOf('IEND', Buffer.alloc(0))];
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const room = limit - signature.length - start.length - end.length;
  const empty = chunkOf('IDAT', Buffer.alloc(0));
  return Buffer.concat([signature, start, Buffer.alloc(room - (room % empty.length), empty), end]);
}

function chunkOf(type: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

function jpegOf(limit: number, unit: Buffer, before = Buffer.alloc(0)): Buffer {
  const start = Buffer.concat([Buffer.from('ffd8ffc0000808000100010101', 'hex').subarray(0, 12), before]);
  return Buffer.concat([start, Buffer.alloc(limit - start.length - 2, unit), Buffer.from([0xff, 0xd9])]);
}
