import { crc32, deflateSync } from 'node:zlib';

// Pictures made byte by byte, so that a test can break any of them.

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export function pngChunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  return Buffer.concat([uint32(data.length), body, uint32(crc32(body))]);
}

const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};

export const pngHeader = (width: number, height: number): Buffer =>
  pngChunk('IHDR', Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 2, 0, 0, 0])]));

/** One that any viewer shows: red, or another colour. */
export function png(width = 2, height = 2, extra: Buffer[] = [], colour = [255, 0, 0]): Buffer {
  const row = Buffer.from([0, ...Array.from({ length: width }, () => colour).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(width, height),
    ...extra,
    pngChunk('IDAT', pixels),
    pngChunk('IEND'),
  ]);
}

export function jpegSegment(marker: number, data: Buffer | string): Buffer {
  const bytes = Buffer.from(data);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length + 2);
  return Buffer.concat([Buffer.from([0xff, marker]), length, bytes]);
}

export const JPEG_START = Buffer.from([0xff, 0xd8]);
export const JPEG_END = Buffer.from([0xff, 0xd9]);
export const jpegFrame = (width: number, height: number, marker = 0xc0): Buffer =>
  jpegSegment(marker, Buffer.from([8, height >> 8, height & 255, width >> 8, width & 255, 1, 1, 0x11, 0]));
export const JPEG_SCAN = Buffer.concat([
  jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
  Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56]),
]);

// One coefficient of a block of 8 x 8 pixels, whose code is 0 and 0111111; a dark grey, 64 of 255.
const QUANTISATION = jpegSegment(0xdb, Buffer.from([0, ...Array<number>(64).fill(8)]));
const CODES = [
  jpegSegment(0xc4, Buffer.from([0x00, 1, ...Array<number>(15).fill(0), 7])),
  jpegSegment(0xc4, Buffer.from([0x10, 1, ...Array<number>(15).fill(0), 0])),
];
const GREY_BLOCK = [jpegSegment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])), Buffer.from([0x3f, 0x7f])];

/** One that any viewer shows, of at most 8 x 8 pixels; larger ones lack their pixels. */
export const jpeg = (width = 2, height = 2, extra: Buffer[] = []): Buffer =>
  Buffer.concat([
    JPEG_START,
    jpegSegment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    QUANTISATION,
    ...extra,
    jpegFrame(width, height),
    ...CODES,
    ...GREY_BLOCK,
    // a stuffed byte, as coded pixels may hold
    Buffer.from([0xff, 0x00]),
    JPEG_END,
  ]);

export const SVG_NAMESPACES =
  'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10"';

/** A drawing with this inside. */
export const svg = (inside = '', shape = '<rect width="10" height="10"/>'): string =>
  `<svg ${SVG_NAMESPACES}>${shape}${inside}</svg>`;

/** 8 x 8 pixels of that grey. */
export const greyJpeg = (): Buffer => jpeg(8, 8);
