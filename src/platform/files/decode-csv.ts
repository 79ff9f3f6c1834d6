import { createReadStream } from 'node:fs';
import { TextDecoder } from 'node:util';
import { ApiError, fieldError, invalidFieldError } from '../errors/errors.js';
import { looksLikeWindows1252 } from './windows-1252.js';

export type Encoding = 'UTF-8' | 'UTF-16LE' | 'UTF-16BE' | 'Windows-1252';

/** Rows of one piece are validated without a pause: 64 KiB of the shortest rows block the event loop for 50 ms. */
export const PIECE_BYTES = 16 * 1024;

/**
 * Finds out the encoding of a text file: that of its byte order mark, else UTF-8 if the whole file is UTF-8, else Windows-1252 if
 * it looks like that. The first letter outside ASCII may be in the last row.
 *
 * @throws ApiError invalid_encoding; validation_failed for a file that is not text
 */
export async function encodingOf(path: string): Promise<Encoding> {
  const start = await startOf(path);
  const marked = MARKS.find(([mark]) => start.subarray(0, mark.length).equals(mark))?.[1];
  if (marked?.startsWith('UTF-16')) return marked;
  if (isUnmarkedUtf16(start)) throw invalidFieldError('file', 'utf16_unmarked');
  assertNotBinary(start);
  if (await isValid(path, 'utf-8')) return 'UTF-8';
  if (!marked && (await isValid(path, 'windows-1252', looksLikeWindows1252))) return 'Windows-1252';
  throw wrongEncoding();
}

const MARKS: [mark: Buffer, encoding: Encoding][] = [
  [Buffer.from([0xef, 0xbb, 0xbf]), 'UTF-8'],
  [Buffer.from([0xff, 0xfe]), 'UTF-16LE'],
  [Buffer.from([0xfe, 0xff]), 'UTF-16BE'],
];

export async function startOf(path: string): Promise<Buffer> {
  for await (const bytes of createReadStream(path, { end: PIECE_BYTES - 1, highWaterMark: PIECE_BYTES }))
    // A stream without an encoding yields Buffers.
    return bytes as Buffer;
  return Buffer.alloc(0);
}

const SAMPLE_BYTES = 256;

/** Latin text in UTF-16 has a zero in nearly every second byte, and no other zeros. */
function isUnmarkedUtf16(start: Buffer): boolean {
  const sample = start.subarray(0, SAMPLE_BYTES);
  const countZeros = (place: 0 | 1) => sample.filter((byte, at) => at % 2 === place && byte === 0).length;
  const [bigEndian, littleEndian] = [countZeros(0), countZeros(1)];
  return Math.min(bigEndian, littleEndian) === 0 && Math.max(bigEndian, littleEndian) > sample.length / 4;
}

/** Detects archives and images by the control characters of their first line. */
function assertNotBinary(start: Buffer): void {
  const [line = ''] = start.toString('latin1').split(/[\n\r]/, 1);
  const isImage = /^(?:\x89PNG|GIF8|\xff\xd8\xff|%PDF-)/.test(line);
  // oxlint-disable-next-line no-control-regex -- these characters are looked for
  if (isImage || /[\x00-\x08\x0e-\x19\x1b-\x1f]/.test(line)) throw invalidFieldError('file', 'not_csv');
}

/** Returns whether each part of the file can be decoded, and is accepted. */
async function isValid(
  path: string,
  label: string,
  accepts: (text: string) => boolean = () => true,
): Promise<boolean> {
  const decoder = new TextDecoder(label, { fatal: true });
  let before = '';
  try {
    for await (const bytes of createReadStream(path)) {
      // A stream without an encoding yields Buffers.
      const text = decoder.decode(bytes as Buffer, { stream: true });
      // The last characters of the piece before, because a character is judged by its neighbours.
      if (!accepts(before + text)) return false;
      before = text.slice(-2);
    }
    decoder.decode();
    return true;
  } catch (error) {
    // TextDecoder throws this error for bytes that it cannot decode.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** For each quote in a quoted cell, Papa Parse reads the blanks at the end of the cell: 33,000 of them cost 270 ms per row. */
const MAX_BLANKS = 256;

/**
 * Yields the text of a file's bytes in pieces. Every line ends with LF, because some files mix CR LF and LF. Longer runs of blanks are
 * shortened to 256.
 */
export async function* decodeCsv(pieces: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const shortenBlanks = makeBlankShortener();
  let pendingText = '';
  for await (const bytes of pieces) {
    const text = pendingText + decodePart(decoder, bytes);
    // The LF of a CR LF may be in the next piece.
    pendingText = text.endsWith('\r') ? '\r' : '';
    const lines = text.slice(0, text.length - pendingText.length).replace(/\r\n?/g, '\n');
    const piece = shortenBlanks(lines);
    if (piece) yield piece;
  }
  decodePart(decoder);
  if (pendingText) yield '\n';
}

/** Returns a function that shortens the runs of blanks in consecutive pieces of a text. */
function makeBlankShortener(): (piece: string) => string {
  let before = 0;
  return (piece) => {
    const shortened = piece.replace(/[^\S\n]{2,}/g, (run, start: number) =>
      run.slice(0, Math.max(0, MAX_BLANKS - (start === 0 ? before : 0))),
    );
    const lastLine = shortened.slice(shortened.lastIndexOf('\n') + 1);
    const end = lastLine.length - lastLine.trimEnd().length;
    before = end === shortened.length ? before + end : end;
    return shortened;
  };
}

/** A file of UTF-16 is decoded here for the first time. */
function decodePart(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
  } catch {
    throw wrongEncoding();
  }
}

const wrongEncoding = () =>
  new ApiError('invalid_encoding', { variant: 'field', errors: [fieldError('file', 'csv_encoding')] });
