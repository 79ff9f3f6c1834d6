// The cells of CSV files. Without imports, because the console makes its exports with it too.

export type Cell = string | number;

/** Returns one line of a CSV file (RFC 4180), with its end. No cell of it is a formula, whichever separator a program expects. */
export const toCsvLine = (cells: readonly Cell[]): string => `${cells.map(toField).join(',')}\r\n`;

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
