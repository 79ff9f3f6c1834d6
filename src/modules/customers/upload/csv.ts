import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import Papa from 'papaparse';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';

export type CsvRow = {
  /** As a spreadsheet counts: the first is 1, empty lines included. */
  number: number;
  cells: string[];
  fault?: 'quotes' | 'length';
};

/** What one row may hold; a quote that is never closed would otherwise make one row of all that follows. */
const MAX_ROW_CHARS = 64 * 1024;

/**
 * Reads a CSV file in UTF-8, with or without a byte order mark, and hands its rows over as they come, empty lines
 * left out. After a row whose quotes run on beyond 64 KiB nothing is read.
 *
 * @throws ApiError invalid_encoding, and whatever `take` throws
 */
export async function readCsv(path: string, take: (row: CsvRow) => void): Promise<void> {
  const progress = { fedChars: 0, row: 0 };
  const text = Readable.from(decode(path, progress));
  try {
    await new Promise<void>((resolve, reject) => {
      Papa.parse<string[]>(text, {
        newline: '\n',
        // its types leave out that it may be asked
        delimiter: separatorOf as unknown as string,
        chunk(found) {
          for (const row of rowsOf(found, progress)) take(row);
          if (progress.fedChars - found.meta.cursor <= MAX_ROW_CHARS) return;
          take({ number: progress.row + 1, cells: [], fault: 'length' });
          resolve();
        },
        complete: () => resolve(),
        error: reject,
      });
    });
  } finally {
    // an error that comes while it is being closed has nobody left to hear it
    text.on('error', () => undefined);
    text.destroy();
  }
}

type Progress = { fedChars: number; row: number };

function rowsOf({ data, errors }: Papa.ParseResult<string[]>, progress: Progress): CsvRow[] {
  // those of the row that the next chunk completes come again with it
  const broken = new Set(errors.map(({ row }) => row));
  const first = progress.row + 1;
  progress.row += data.length;
  return data.flatMap((cells, index) => {
    const row = { number: first + index, cells };
    if (broken.has(index)) return { ...row, fault: 'quotes' as const };
    return cells.length === 1 && cells[0] === '' ? [] : row;
  });
}

/** Spreadsheets write semicolons where the comma is the decimal sign. */
function separatorOf(text: string): string {
  const header = text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n'));
  return header.includes(';') && !header.includes(',') ? ';' : ',';
}

/** The text of the file in pieces, every line ended by LF alone: files with both kinds of line exist. */
async function* decode(path: string, progress: Progress): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held = '';
  for await (const bytes of createReadStream(path)) {
    // as: a file opened without an encoding gives Buffers
    const text = held + decodePart(decoder, bytes as Buffer);
    // half of a CR LF may be in the next piece
    held = text.endsWith('\r') ? '\r' : '';
    const piece = text.slice(0, text.length - held.length).replace(/\r\n?/g, '\n');
    progress.fedChars += piece.length;
    if (piece) yield piece;
  }
  decodePart(decoder);
  if (held) yield '\n';
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
