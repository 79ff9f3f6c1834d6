// Our own, not Papa.unparse: Papa quotes more cells, which would change the published bytes, and takes twice the CPU time (21 ms instead of 10 ms for 10,000 rows).
import { pause } from '../concurrency/pause-when-due.js';

export type Cell = string | number;

// About a millisecond of work. The event loop serves other requests between two batches.
const LINES_A_TURN = 500;

/** Returns a CSV file (RFC 4180) in UTF-8, without a byte order mark. The first line contains the headings. */
export async function writeCsv<Row>(
  headings: readonly string[],
  rows: Row[],
  toCells: (row: Row) => Cell[],
): Promise<Buffer> {
  return Buffer.concat([Buffer.from(toLine(headings)), await writeCsvLines(rows, toCells)]);
}

/** Returns only the lines of the rows, for a file that is written in parts. */
export async function writeCsvLines<Row>(rows: Row[], toCells: (row: Row) => Cell[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let start = 0; start < rows.length; start += LINES_A_TURN) {
    // Also before the first batch, which would otherwise follow the parsing of the rows in the same turn.
    await pause();
    const lines = rows.slice(start, start + LINES_A_TURN).map((row) => toLine(toCells(row)));
    chunks.push(Buffer.from(lines.join('')));
  }
  return Buffer.concat(chunks);
}

const toLine = (cells: readonly Cell[]) => `${cells.map(toField).join(',')}\r\n`;

// More than RFC 4180 requires: other programs use these characters as separators and trim spaces.
const NEEDS_QUOTES = /[",;|\t\r\n]|^\s|\s$/;

function toField(cell: Cell): string {
  const text = typeof cell === 'number' ? String(cell) : harmlessInside(cell);
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The first characters of a formula, with the full-width and small forms that spreadsheet programs also accept.
const SIGNS = String.raw`=+\-@＝＋－＠﹦﹢﹣﹫`;
// Invisible characters that a program may skip before a formula: white space, control and format characters.
const SKIPPED = String.raw`\s\p{Cc}\p{Cf}`;
// Most texts match this; checking it first takes a fifth of the time.
const BEGINS_PLAINLY = /^[0-9A-Za-z]/;
const FORMULA = new RegExp(`^(?:[${SKIPPED}]*[${SIGNS}]|[\\t\\r\\n\\0])`, 'u');

// Where a program begins a new cell if its list separator is not the comma. It then ignores the quotes around the cell.
const SEPARATOR = /[,;|\t\r\n]/;
// A quote behind a separator opens a quoted cell there. Skipped characters end at the next separator, which is checked by itself.
// At the end of the text, that is the quote that ends the cell.
const INNER_FORMULA = new RegExp(
  `(?:[,;|\\t\\n]|\\r(?!\\n))(?=(?:(?![\\t\\r\\n])["${SKIPPED}])*[${SIGNS}]|"*[\\t\\0]|"*\\r(?!\\n))|[;|\\t\\r\\n](?="*$)`,
  'gu',
);

/**
 * Prevents formula injection in a cell of a CSV or XLSX file: puts an apostrophe in front of a text that a spreadsheet program might
 * run as a formula. Such programs treat a cell that begins with an apostrophe as text.
 */
export const harmless = (text: string): string =>
  !BEGINS_PLAINLY.test(text) && FORMULA.test(text) ? `'${text}` : text;

/** The same for CSV, behind each separator inside the text that a formula follows. */
const harmlessInside = (text: string): string =>
  SEPARATOR.test(text) ? text.replace(INNER_FORMULA, "$&'") : text;
