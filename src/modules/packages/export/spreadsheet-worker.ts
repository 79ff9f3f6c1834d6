import { createRequire } from 'node:module';
import type { AOA2SheetOpts } from 'xlsx';
import type { Cell } from '../../../platform/files/csv.js';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';

// The only file that knows the library, and it only writes: what is published against 0.18.5 is in its reader.
// By require: the library's own ES module lacks Node's zlib and packs in JavaScript, which takes three times as long.
const { utils, write } = createRequire(import.meta.url)('xlsx') as typeof import('xlsx');

// XML has no name for these two, and a reader refuses the whole file; other control characters are escaped.
const NOT_IN_XML = /[\ufffe\uffff]/g;
// an underscore that would be read as the begin of such an escape is escaped itself
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g;

// The thread of spreadsheet.ts.
export default makeWorkerTask((texts: string[]): Uint8Array => {
  const lines = texts.flatMap((text) => JSON.parse(text) as Cell[][]);
  // as: the library's types lack the option; a list a row instead of a key a cell
  const sheet = utils.aoa_to_sheet(
    lines.map((line) => line.map(toWritable)),
    { dense: true } as AOA2SheetOpts,
  );
  const book = { SheetNames: ['Packages'], Sheets: { Packages: sheet } };
  // With these options the library returns a Buffer; its types say any.
  return write(book, { type: 'buffer', bookType: 'xlsx', bookSST: true, compression: true }) as Buffer;
});

function toWritable(cell: Cell): Cell | null {
  if (typeof cell === 'number') return cell;
  if (cell === '') return null;
  return cell.replace(NOT_IN_XML, '\ufffd').replace(LOOKS_ESCAPED, '_x005F_');
}
