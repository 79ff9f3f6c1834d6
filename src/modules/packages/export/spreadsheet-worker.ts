import { createRequire } from 'node:module';
import type { AOA2SheetOpts } from 'xlsx';
import type { Cell } from '../../../platform/files/csv.js';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';

// The only file that imports xlsx, and it only writes: the published vulnerabilities of version 0.18.5 are in
// its reader. Loaded with require, because the library's ES module cannot use Node's zlib and compresses in
// JavaScript, which takes three times as long.
const { utils, write } = createRequire(import.meta.url)('xlsx') as typeof import('xlsx');

// XML 1.0 does not allow these two characters, and readers reject the whole file. The library escapes other
// control characters.
const NOT_IN_XML = /[\ufffe\uffff]/g;
// An underscore that readers would take for the start of such an escape must be escaped itself.
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

// The worker thread of spreadsheet.ts, which sends lists of JSON texts.
export default makeWorkerTask((texts: string[]): Uint8Array => {
  const lines = texts.flatMap((text) => JSON.parse(text) as Cell[][]);
  // The library supports `dense` (arrays per row instead of a key per cell), but its types lack the option.
  const sheet = utils.aoa_to_sheet(
    lines.map((line) => line.map(toWritable)),
    { dense: true } as AOA2SheetOpts,
  );
  const book = { SheetNames: ['Packages'], Sheets: { Packages: sheet } };
  // With these options the library returns a Buffer; its types declare `any`.
  return write(book, { type: 'buffer', bookType: 'xlsx', bookSST: true, compression: true }) as Buffer;
});

function toWritable(cell: Cell): Cell | null {
  if (typeof cell === 'number') return cell;
  if (cell === '') return null;
  return cell.replace(NOT_IN_XML, '\ufffd').replace(LOOKS_ESCAPED, '_x005F_');
}
