import { createReadStream } from 'node:fs';
import { pause } from '../../concurrency/pause-when-due.js';
import { invalidFieldError } from '../../errors/errors.js';
import { encodingOf, PIECE_BYTES, startOf, type Encoding } from '../decode-csv.js';
import type { SheetCsv } from '../workbook/workbook-csv.js';

/** The bytes of an uploaded table, as CSV. */
export type Table = {
  encoding: Encoding;
  pieces: AsyncIterable<Buffer>;
  /** The sheet, if the file is a workbook. */
  sheet?: SheetCsv;
};

/** The first bytes of a ZIP file with files, and of one without. */
const ZIP = ['504b0304', '504b0506'];
/** The first bytes of an OLE file: .xls, and a workbook with a password. */
const OLE = 'd0cf11e0';

/**
 * Opens a CSV file or a workbook, whichever the content is.
 * @throws ApiError validation_failed, invalid_encoding
 */
export async function openTable(path: string, readWorkbook: () => Promise<SheetCsv>): Promise<Table> {
  const signature = (await startOf(path)).toString('hex', 0, 4);
  if (signature === OLE) throw invalidFieldError('file', 'workbook_locked');
  if (ZIP.includes(signature)) {
    const sheet = await readWorkbook();
    return { encoding: 'UTF-8', pieces: piecesOf(sheet.csv), sheet };
  }
  const encoding = await encodingOf(path);
  // A stream without an encoding yields Buffers.
  const pieces = createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>;
  return { encoding, pieces };
}

/** Each in a turn of its own, as the pieces of a file are. */
async function* piecesOf({ buffer, byteOffset, byteLength }: Uint8Array): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(buffer, byteOffset, byteLength);
  for (let from = 0; from < byteLength; from += PIECE_BYTES) {
    await pause();
    yield bytes.subarray(from, from + PIECE_BYTES);
  }
}
