// Our own: image-size reads only the dimensions, and sharp decodes the pixels. This removes metadata and trailing bytes without decoding.
import { assertModest, PictureError, type Raster } from './picture-error.js';

// The kinds of frame that browsers show: baseline, extended and progressive.
const FRAMES = new Set([0xc0, 0xc1, 0xc2]);
const OTHER_FRAMES = new Set([0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);

// Sizes, colour profile, Adobe's colour transform; the other application data and comments stay behind.
const PAINTED_APPS = new Set([0xe0, 0xe2, 0xee]);
const isLuggage = (marker: number) =>
  marker === 0xfe || (marker >= 0xe0 && marker <= 0xef && !PAINTED_APPS.has(marker));

/** Photographs have some dozen. 2 MiB of empty ones held the event loop for 180 ms. */
const MAX_SEGMENTS = 10_000;

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

/** The picture of a JPG, without what is beside or behind it; undefined when the bytes are no JPG. */
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
    if (OTHER_FRAMES.has(marker)) throw new PictureError('Browsers cannot show this kind of JPG.');
    if (FRAMES.has(marker)) {
      frames += 1;
      [widthPx, heightPx] = sizeOf(segment);
      assertModest(widthPx, heightPx);
    }
    if (marker === START_OF_SCAN) scans += 1;
    const end =
      marker === START_OF_SCAN ? endOfScan(bytes, offset + segment.length) : offset + segment.length;
    if (!isLuggage(marker)) kept.push(bytes.subarray(offset, end));
    offset = end;
  }
  if (frames !== 1 || scans === 0) throw broken();
  const content = Buffer.concat([...kept, Buffer.from([0xff, END_OF_IMAGE])]);
  return { mediaType: 'image/jpeg', content, widthPx, heightPx };
}

/** A segment from its marker on. */
function readSegment(bytes: Buffer, offset: number): Buffer {
  const marker = bytes[offset + 1] ?? 0;
  // below these markers nothing has a length, and nothing without one belongs between segments
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

/** Where the coded picture ends: at the next marker that is neither a stuffed byte nor a restart. */
function endOfScan(bytes: Buffer, start: number): number {
  // byte by byte: a million calls of indexOf took ten times as long
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue;
    const next = bytes[at + 1] ?? 0;
    const isCoded = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7);
    if (!isCoded) return at;
  }
  throw broken();
}

const broken = () => new PictureError('The JPG is damaged or not whole.');
