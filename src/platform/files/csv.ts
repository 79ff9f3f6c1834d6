// Our own, not Papa.unparse: Papa quotes more cells, which would change the published bytes, and takes twice the CPU time (21 ms instead of 10 ms for 10,000 rows).
import { pause } from '../concurrency/pause-when-due.js';
import { toCsvLine, type Cell } from './csv-cells.js';

// About a millisecond of work. The event loop serves other requests between two batches.
const LINES_A_TURN = 500;

/** Returns a CSV file (RFC 4180) in UTF-8, without a byte order mark. The first line contains the headings. */
export async function writeCsv<Row>(
  headings: readonly string[],
  rows: Row[],
  toCells: (row: Row) => Cell[],
): Promise<Buffer> {
  return Buffer.concat([Buffer.from(toCsvLine(headings)), await writeCsvLines(rows, toCells)]);
}

/** Returns only the lines of the rows, for a file that is written in parts. */
export async function writeCsvLines<Row>(rows: Row[], toCells: (row: Row) => Cell[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let start = 0; start < rows.length; start += LINES_A_TURN) {
    // Also before the first batch, which would otherwise follow the parsing of the rows in the same turn.
    await pause();
    const lines = rows.slice(start, start + LINES_A_TURN).map((row) => toCsvLine(toCells(row)));
    chunks.push(Buffer.from(lines.join('')));
  }
  return Buffer.concat(chunks);
}
