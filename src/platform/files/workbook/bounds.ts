const MIB = 1024 * 1024;

/** The parts that are read, uncompressed. Ten times the largest upload; a sheet of 100,000 rows has 25 MiB. */
export const MAX_EXPANDED_BYTES = 100 * MIB;
/** The texts of the sheet as CSV, which is the largest CSV file of an upload. */
export const MAX_TEXT_BYTES = 10 * MIB;
/** UTF-16 units of one cell, as a spreadsheet program allows. The process can abort where a thread allocates many megabytes at once. */
export const MAX_CELL_CHARS = 32_767;
/** Each may be written as seven, _x0041_. */
export const MAX_ESCAPED_CHARS = 7 * MAX_CELL_CHARS;
/** Characters of XML without an element. The longest text of a cell has 320 KiB. */
export const MAX_CHARS_BETWEEN_TAGS = 512 * 1024;
/** Cells with content, and shared texts. */
export const MAX_CELLS = 1_000_000;
/** Files in the archive: an ordinary workbook has ten, with many pictures some hundred. */
export const MAX_PARTS = 2_000;
/** Visible sheets: one for each day of two years. */
export const MAX_SHEETS = 1_000;
/** Cell formats, as many as a spreadsheet program keeps. */
export const MAX_STYLES = 65_490;
/** Different number formats that cells use. A spreadsheet program keeps 250. One that cannot be read takes 0.3 ms. */
export const MAX_FORMATS = 1_000;

/** How a message words each limit. */
export const messageLimits = {
  expanded: '100 MiB of contents',
  text: '10 MiB of text',
  cellText: '32,767 characters in one cell',
  cells: '1,000,000 cells',
  parts: '2,000 files inside',
  sheets: '1,000 sheets',
  styles: '65,490 cell formats',
  formats: '1,000 number formats',
} as const;

// Source: the limits of spreadsheet programs.
export const MAX_ROW = 1_048_576;
export const MAX_COLUMNS = 16_384;
