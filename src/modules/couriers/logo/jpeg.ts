// Our own: image-size reads only the dimensions, and sharp decodes the pixels. This removes metadata and trailing bytes without decoding.
import { assertSizeAllowed, PictureError, type Raster } from './picture-error.js';

// The frame types that browsers support: baseline, extended and progressive.
const FRAMES = new Set([0xc0, 0xc1, 0xc2]);
const OTHER_FRAMES = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);

// Application data that affects the picture: size, colour profile, Adobe's colour transform. Other
// application data and comments are removed.
const PICTURE_APPS = new Set([0xe0, 0xe2, 0xee]);
const isMetadata = (marker: number) =>
  marker === 0xfe || (marker >= 0xe0 && marker <= 0xef && !PICTURE_APPS.has(marker));

/** Photographs have a few dozen segments. A file of 2 MiB of empty ones blocked the event loop for 180 ms. */
const MAX_SEGMENTS = 10_000;

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/**
 * Returns the picture of a JPG without metadata and trailing data, or undefined if the bytes are not a JPG.
 */
export function readJpeg(bytes: Buffer): Raster | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8 || bytes[2] !== 0xff) return undefined;
  const kept = [bytes.subarray(0, 2)];
  let [widthPx, heightPx] = [0, 0];
  let frames = 0;
  let scans = 0;
  let segments = 0;
  for (let offset = 2; ;) {
    if ((segments += 1) > MAX_SEGMENTS) throw broken();
    const marker = bytes[offset + 1] ?? 0;
    if (bytes[offset] !== 0xff) throw broken();
    if (marker === END_OF_IMAGE) break;
    const segment = readSegment(bytes, offset);
    if (OTHER_FRAMES.has(marker)) throw new PictureError('logo_jpeg_kind');
    if (FRAMES.has(marker)) {
      frames += 1;
      [widthPx, heightPx] = sizeOf(segment);
      assertSizeAllowed(widthPx, heightPx);
    }
    if (marker === START_OF_SCAN) scans += 1;
    const end =
      marker === START_OF_SCAN ? endOfScan(bytes, offset + segment.length) : offset + segment.length;
    if (!isMetadata(marker)) kept.push(bytes.subarray(offset, end));
    offset = end;
  }
  if (frames !== 1 || scans === 0) throw broken();
  const content = Buffer.concat([...kept, Buffer.from([0xff, END_OF_IMAGE])]);
  return { mediaType: 'image/jpeg', content, widthPx, heightPx };
}

/** Returns a segment, including its marker. */
function readSegment(bytes: Buffer, offset: number): Buffer {
  const marker = bytes[offset + 1] ?? 0;
  // Markers below these values have no length, and markers without a length are invalid between segments.
  if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8) || marker === 0xff) throw broken();
  if (offset + 4 > bytes.length) throw broken();
  const end = offset + 2 + bytes.readUInt16BE(offset + 2);
  if (end < offset + 4 || end > bytes.length) throw broken();
  return bytes.subarray(offset, end);
}

function sizeOf(frame: Buffer): [widthPx: number, heightPx: number] {
  if (frame.length < 10) throw broken();
  return [frame.readUInt16BE(7), frame.readUInt16BE(5)];
}

/** Returns the end of the coded picture: the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(bytes: Buffer, start: number): number {
  // A loop over the bytes, because a million calls of indexOf took ten times as long.
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    const isCoded = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!isCoded) return at;
  }
  throw broken();
}

const broken = () => new PictureError('logo_damaged', { kind: 'JPG' });
