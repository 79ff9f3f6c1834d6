import { harmless, toCsvLine, type Cell } from '../../../../src/platform/files/csv-cells.js';

/**
 * The value of a column in an export. A column of numbers exports numbers, or nothing: a text such as `-12.5` would get the apostrophe that
 * protects from formulas, and a spreadsheet program could not add it up.
 */
export type ExportValue<Row> =
  | { isNumber: true; text: (row: Row) => number | '' }
  | { isNumber?: false; text: (row: Row) => string | number };

/** Returns a CSV file in UTF-8, with the mark that spreadsheet programs need to see that. No cell of it is a formula. */
export const csvFile = (lines: Cell[][]): string =>
  `\uFEFF${lines.map((cells) => toCsvLine(cells.map((cell) => (typeof cell === 'number' ? cell : harmless(cell))))).join('')}`;

export type FileColumn<Row> = { title: string } & ExportValue<Row>;

/** Returns the rows and columns on the screen as a CSV file. */
export const csvOf = <Row>(columns: FileColumn<Row>[], rows: Row[]): string =>
  csvFile([columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => text(row)))]);
