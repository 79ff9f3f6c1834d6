// Our own: image-size reads only the dimensions, and sharp decodes the pixels. This removes metadata and trailing bytes without decoding.
import { crc32 } from 'node:zlib';
import { assertSizeAllowed, PictureError, type Raster } from './picture-error.js';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

// The chunks that affect the picture. Texts, camera data and other chunks are removed.
const PICTURE_CHUNKS = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'tRNS',
  'gAMA',
  'cHRM',
  'sRGB',
  'iCCP',
  'sBIT',
  'bKGD',
  'pHYs',
]);

/**
 * Returns the picture of a PNG without metadata and trailing data, or undefined if the bytes are not a PNG.
 */
export function readPng(bytes: Buffer): Raster | undefined {
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) return undefined;
  const kept: Buffer[] = [SIGNATURE];
  const seen = new Set<string>();
  let [widthPx, heightPx] = [0, 0];
  let chunks = 0;
  for (let offset = SIGNATURE.length; !seen.has('IEND');) {
    if ((chunks += 1) > MAX_CHUNKS) throw broken();
    const { type, data, whole } = readChunk(bytes, offset);
    const isFirst = seen.size === 0;
    if ((type === 'IHDR') !== isFirst || (isFirst && data.length !== 13)) throw broken();
    if (type === 'IHDR') {
      [widthPx, heightPx] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      assertSizeAllowed(widthPx, heightPx);
    }
    // The size limits do not count the frames of an animation.
    if (type === 'acTL') throw new PictureError('logo_animated');
    if (PICTURE_CHUNKS.has(type)) kept.push(whole);
    seen.add(type);
    offset += whole.length;
  }
  if (!seen.has('IDAT')) throw broken();
  return { mediaType: 'image/png', content: Buffer.concat(kept), widthPx, heightPx };
}

const OVERHEAD_BYTES = 12;

/**
 * Encoders write a few hundred chunks. A file of 2 MiB of empty ones, each with a checksum, blocked the event
 * loop for 130 ms.
 */
const MAX_CHUNKS = 10_000;

function readChunk(bytes: Buffer, offset: number): { type: string; data: Buffer; whole: Buffer } {
  if (offset + OVERHEAD_BYTES > bytes.length) throw broken();
  const length = bytes.readUInt32BE(offset);
  const end = offset + OVERHEAD_BYTES + length;
  if (end > bytes.length) throw broken();
  if (crc32(bytes.subarray(offset + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) throw broken();
  return {
    type: bytes.toString('latin1', offset + 4, offset + 8),
    data: bytes.subarray(offset + 8, end - 4),
    whole: bytes.subarray(offset, end),
  };
}

const broken = () => new PictureError('logo_damaged', { kind: 'PNG' });
