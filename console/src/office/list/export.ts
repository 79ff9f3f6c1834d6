import { harmless, toCsvLine, type Cell } from '../../../../src/platform/files/csv-cells.js';
import type { ExportValue } from './table.js';

/** Returns a CSV file in UTF-8, with the mark that spreadsheet programs need to see that. No cell of it is a formula. */
export const csvFile = (lines: Cell[][]): string =>
  `\uFEFF${lines.map((cells) => toCsvLine(cells.map((cell) => (typeof cell === 'number' ? cell : harmless(cell))))).join('')}`;

export type FileColumn<Row> = { title: string } & ExportValue<Row>;

/** Returns the rows and columns on the screen as a CSV file. */
export const csvOf = <Row>(columns: FileColumn<Row>[], rows: Row[]): string =>
  csvFile([columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ text }) => text(row)))]);

/** Gives a file to the person. */
export function saveFile(content: Blob | string, name: string, type = 'text/csv'): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type }) : content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
