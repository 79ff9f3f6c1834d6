import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import Papa from 'papaparse';
import { ApiError, fieldError } from '../errors/errors.js';

export type CsvRow = {
  /** The number that a spreadsheet shows: the first row is 1, and empty rows count. */
  number: number;
  cells: string[];
  /** Why the row cannot be read. */
  problem?: 'quotes' | 'length';
};

/** Rows of one piece are validated without a pause: 64 KiB of the shortest rows block the event loop for 50 ms. */
const PIECE_BYTES = 16 * 1024;

/** The maximum size of one row. Otherwise an unclosed quote would turn the rest of the file into one row. */
const MAX_ROW_CHARS = 64 * 1024;

/**
 * Reads a CSV file in UTF-8, with or without a byte order mark, and passes its rows to `take`, except empty
 * ones. Reading stops after a row whose quotes do not end within 64 KiB.
 * @throws ApiError invalid_encoding, and any error of `take`
 */
export async function readCsv(path: string, take: (row: CsvRow) => void): Promise<void> {
  const progress = { readChars: 0, row: 0 };
  const text = Readable.from(decode(path, progress));
  try {
    await new Promise<void>((resolve, reject) => {
      Papa.parse<string[]>(text, {
        newline: '\n',
        // Papa Parse accepts a function here, but its types do not.
        delimiter: separatorOf as unknown as string,
        chunk(found) {
          for (const row of rowsOf(found, progress)) take(row);
          if (progress.readChars - found.meta.cursor <= MAX_ROW_CHARS) return;
          take({ number: progress.row + 1, cells: [], problem: 'length' });
          resolve();
        },
        complete: () => resolve(),
        error: reject,
      });
    });
  } finally {
    // Ignores an error that occurs while the stream is closed.
    text.on('error', () => undefined);
    text.destroy();
  }
}

type Progress = { readChars: number; row: number };

function rowsOf({ data, errors }: Papa.ParseResult<string[]>, progress: Progress): CsvRow[] {
  // Errors in the last, incomplete row are reported again with the next chunk.
  const broken = new Set(errors.map(({ row }) => row));
  const first = progress.row + 1;
  progress.row += data.length;
  return data.flatMap((cells, index) => {
    const row = { number: first + index, cells };
    if (broken.has(index)) return { ...row, problem: 'quotes' as const };
    return cells.length === 1 && cells[0] === '' ? [] : row;
  });
}

/** Spreadsheets write semicolons in locales with a decimal comma. */
function separatorOf(text: string): string {
  const header = text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n'));
  return header.includes(';') && !header.includes(',') ? ';' : ',';
}

/** Yields the file's text in pieces. Every line ends with LF, because some files mix CR LF and LF. */
async function* decode(path: string, progress: Progress): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pendingText = '';
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    // A stream without an encoding yields Buffers.
    const text = pendingText + decodePart(decoder, bytes as Buffer);
    // The LF of a CR LF may be in the next piece.
    pendingText = text.endsWith('\r') ? '\r' : '';
    const piece = text.slice(0, text.length - pendingText.length).replace(/\r\n?/g, '\n');
    progress.readChars += piece.length;
    if (piece) yield piece;
  }
  decodePart(decoder);
  if (pendingText) yield '\n';
}

function decodePart(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch {
    throw new ApiError('invalid_encoding', {
      variant: 'field',
      errors: [fieldError('file', 'csv_encoding')],
    });
  }
}
