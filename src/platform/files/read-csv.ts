import { Readable } from 'node:stream';
import Papa from 'papaparse';
import { invalidFieldError } from '../errors/errors.js';
import { decodeCsv, type Encoding } from './decode-csv.js';

export type CsvRow = {
  /** The number that a spreadsheet shows: the first row is 1, and empty rows count. */
  number: number;
  cells: string[];
  /** Why the row cannot be read. */
  problem?: 'quotes' | 'length';
};

/** The maximum size of one row. Otherwise an unclosed quote would turn the rest of the file into one row. */
const MAX_ROW_CHARS = 64 * 1024;
// Source: the limits of spreadsheet programs.
const MAX_CELLS = 16_384;

type CsvFile = {
  /** Pieces of at most 16 KiB, because the rows of one are read without a pause. */
  pieces: AsyncIterable<Buffer>;
  encoding: Encoding;
  /** The maximum number of empty rows. They cost as much time as others. */
  maxEmptyRows: number;
  /** Returns the separator of a file that begins with this text. */
  separatorOf(text: string): string;
};

/**
 * Reads a CSV file and passes its rows to `take`, except empty ones. Reading stops after a row whose quotes do not end within
 * 64 KiB.
 * @throws ApiError invalid_encoding; validation_failed for too many empty rows; and any error of `take`
 */
export async function readCsv(
  { pieces, encoding, maxEmptyRows, separatorOf }: CsvFile,
  take: (row: CsvRow) => void,
): Promise<void> {
  const progress = { readChars: 0, row: 0, empty: 0 };
  const text = Readable.from(countChars(decodeCsv(pieces, encoding), progress));
  try {
    await new Promise<void>((resolve, reject) => {
      Papa.parse<string[]>(text, {
        newline: '\n',
        // Papa Parse accepts a function here, but its types do not.
        delimiter: separatorOf as unknown as string,
        chunk(found) {
          const rows = rowsOf(found, progress);
          progress.empty += found.data.length - rows.length;
          if (progress.empty > maxEmptyRows)
            throw invalidFieldError('file', 'too_many_rows', { limit: maxEmptyRows });
          for (const row of rows) take(row);
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

async function* countChars(pieces: AsyncGenerator<string>, progress: Progress): AsyncGenerator<string> {
  for await (const piece of pieces) {
    progress.readChars += piece.length;
    yield piece;
  }
}

function rowsOf({ data, errors }: Papa.ParseResult<string[]>, progress: Progress): CsvRow[] {
  // Errors in the last, incomplete row are reported again with the next chunk.
  const broken = new Set(errors.map(({ row }) => row));
  const first = progress.row + 1;
  progress.row += data.length;
  return data.flatMap((cells, index) => {
    const row = { number: first + index, cells };
    if (broken.has(index)) return { ...row, problem: 'quotes' as const };
    if (cells.length > MAX_CELLS) return { ...row, cells: [], problem: 'length' as const };
    return cells.length === 1 && cells[0] === '' ? [] : row;
  });
}
