import { createRequire } from 'node:module';
import type { Cell } from '../csv-cells.js';
import { makeWorkerTask } from '../../concurrency/worker-task.js';
import { makeSheetParts } from './sheet-parts.js';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { unzipSync, Zip, type ZipInputFile } from 'fflate';

/** The contents of an archive by path. */
type Archive = Record<string, Uint8Array>;

const readZip = (archive: Uint8Array): Archive => unzipSync(archive);

const DEFLATE = 8;

function writeZip(archive: Archive): Buffer {
  const chunks: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    chunks.push(chunk);
  });
  for (const [filename, content] of Object.entries(archive)) {
    const file: ZipInputFile = { filename, size: content.length, crc: crc32(content), compression: DEFLATE };
    zip.add(file);
    // Compressed by Node, which takes a quarter of fflate's CPU time. A higher level takes up to three times as long
    // and saves at most a fifth of the size.
    const compressed = deflateRawSync(content, { level: constants.Z_BEST_SPEED });
    // The archive has set this callback when it took the file.
    if (!file.ondata) throw new Error(`${filename} was not added to the archive.`);
    file.ondata(null, compressed, true);
  }
  zip.end();
  return Buffer.concat(chunks);
}

// The only file that imports xlsx, and it only writes: the published vulnerabilities of version 0.18.5 are in
// its reader. Loaded with require, because loading the library's ES module takes longer.
const { utils, write } = createRequire(import.meta.url)('xlsx') as typeof import('xlsx');

// The library writes everything around the sheet's cells. A text cell makes it declare the shared strings.
const emptyBook = (sheetName: string): Archive =>
  readZip(
    // With these options the library returns a Buffer; its types declare `any`.
    write(
      { SheetNames: [sheetName], Sheets: { [sheetName]: utils.aoa_to_sheet([['']]) } },
      { type: 'buffer', bookType: 'xlsx', bookSST: true },
    ) as Buffer,
  );

const emptyBooks = new Map<string, Archive>();

function emptyBookOf(sheetName: string): Archive {
  const book = emptyBooks.get(sheetName) ?? emptyBook(sheetName);
  emptyBooks.set(sheetName, book);
  return book;
}

export type Sheet = { name: string; texts: string[] };

// The worker thread of write-workbook.ts, which sends lists of JSON texts.
export default makeWorkerTask(({ name, texts }: Sheet): Uint8Array => {
  const parts = makeSheetParts();
  for (const text of texts) parts.append(JSON.parse(text) as Cell[][]);
  const { sheet, sharedStrings } = parts.finish();
  return writeZip({
    ...emptyBookOf(name),
    'xl/worksheets/sheet1.xml': sheet,
    'xl/sharedStrings.xml': sharedStrings,
  });
});
