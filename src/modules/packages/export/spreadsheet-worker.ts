import { createRequire } from 'node:module';
import type { Cell } from '../../../platform/files/csv.js';
import { makeWorkerTask } from '../../../platform/concurrency/worker-task.js';
import { makeSheetParts } from './sheet-parts.js';
import { readZip, writeZip } from './zip.js';

// The only file that imports xlsx, and it only writes: the published vulnerabilities of version 0.18.5 are in
// its reader. Loaded with require, because loading the library's ES module takes longer.
const { utils, write } = createRequire(import.meta.url)('xlsx') as typeof import('xlsx');

// The library writes everything around the sheet's cells. A text cell makes it declare the shared strings.
const EMPTY_BOOK = readZip(
  // With these options the library returns a Buffer; its types declare `any`.
  write(
    { SheetNames: ['Packages'], Sheets: { Packages: utils.aoa_to_sheet([['']]) } },
    { type: 'buffer', bookType: 'xlsx', bookSST: true },
  ) as Buffer,
);

// The worker thread of spreadsheet.ts, which sends lists of JSON texts.
export default makeWorkerTask((texts: string[]): Uint8Array => {
  const parts = makeSheetParts();
  for (const text of texts) parts.append(JSON.parse(text) as Cell[][]);
  const { sheet, sharedStrings } = parts.finish();
  return writeZip({
    ...EMPTY_BOOK,
    'xl/worksheets/sheet1.xml': sheet,
    'xl/sharedStrings.xml': sharedStrings,
  });
});
