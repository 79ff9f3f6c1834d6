import { createReadStream } from 'node:fs';
import type { FastifyRequest } from 'fastify';
import type { NotedWrites } from '../../context/request-state.js';
import { NDJSON, type UploadedFile } from '../../contract/types.js';
import { MULTIPART, sentMediaType } from '../../http/bodies/forms.js';
import type { SentLines } from '../../http/bodies/lines.js';

// Decision 0131 has the measured growth: about 4 KiB for a small record with its indexes and its audit entry, and 3 KiB for a line of a
// batch. Texts are also in the audit entry and in an index.
const REQUEST_BYTES = 4 * 1024;
const ITEM_BYTES = 3 * 1024;
const COPIES = 3;

/** What a request carries: the bytes of its body, and the items, lines or rows in it. */
export type Size = { bytes: number; items: number };

/** Returns an estimate of the bytes that a request makes the service write: before the work, for everything that it carries. */
export function bytesOf(
  size: Size,
  { share = 1, furtherBytes = 0, carried = size }: NotedWrites = {},
): number {
  if (share === 0) return furtherBytes;
  const { bytes, items } = carried;
  return REQUEST_BYTES + share * (COPIES * bytes + ITEM_BYTES * items) + furtherBytes;
}

/** @param hasItems whether the operation reads items, for example rows, from what is sent */
export async function sizeOf(request: FastifyRequest, hasItems: boolean): Promise<Size> {
  const { body, headers } = request;
  const mediaType = sentMediaType(request);
  // The parser of this media type returns it.
  if (mediaType === NDJSON) return sizeOfLines(body as SentLines);
  if (typeof body !== 'object' || body === null) return { bytes: 0, items: 0 };
  if (mediaType === MULTIPART) return sizeOfForm(body, hasItems);
  const sent = headers['content-length'];
  return {
    bytes: sent === undefined ? Buffer.byteLength(JSON.stringify(body)) : Number(sent),
    items: countItems(body),
  };
}

const sizeOfLines = ({ sizeBytes, lines }: SentLines): Size => ({ bytes: sizeBytes, items: lines.length });

const countItems = (body: object): number =>
  Object.values(body).reduce<number>((sum, value) => sum + (Array.isArray(value) ? value.length : 0), 0);

async function sizeOfForm(form: object, hasItems: boolean): Promise<Size> {
  const size = { bytes: 0, items: 0 };
  // Texts are converted to the types of the schema, none of which is an object.
  for (const value of Object.values(form) as (string | number | boolean | UploadedFile)[]) {
    if (typeof value === 'object' && hasItems) {
      size.bytes += value.sizeBytes;
      size.items += await countRows(value);
      // A document or a picture is stored once, and its bytes are no lines.
    } else if (typeof value === 'object') size.bytes += value.sizeBytes / COPIES;
    else size.bytes += String(value).length;
  }
  return size;
}

/** Counts the ends of lines. A compressed workbook has one such byte among 128 on average, about one for each row; what it carries is counted after it is read. */
async function countRows({ path }: UploadedFile): Promise<number> {
  let rows = 0;
  // A stream of a file without an encoding has buffers.
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of chunk) if (byte === LINE_FEED || byte === CARRIAGE_RETURN) rows += 1;
    if (rows >= MAX_ROWS) return MAX_ROWS;
  }
  return rows;
}

/** A file with more rows is refused by each of its readers, and stores nothing. */
const MAX_ROWS = 100_000;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
