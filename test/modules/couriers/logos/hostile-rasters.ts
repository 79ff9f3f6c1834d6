import { deflateSync } from 'node:zlib';
import {
  jpeg,
  JPEG_END,
  JPEG_SCAN,
  JPEG_START,
  jpegFrame,
  png,
  PNG_SIGNATURE,
  pngChunk,
  pngHeader,
} from '../../../support/readers/pictures.js';

const MIB = 1024 * 1024;

/** PNG and JPG files that are corrupt, too large or of a kind that logos may not have. */
export const HOSTILE_RASTERS: Record<string, Buffer> = {
  'a PNG of 10,001 x 1': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(10_001, 1),
    pngChunk('IDAT'),
    pngChunk('IEND'),
  ]),
  'a PNG of 1 x 4,294,967,295': Buffer.concat([PNG_SIGNATURE, pngHeader(1, 0xffffffff), pngChunk('IDAT')]),
  'a PNG of 9,000 x 9,000': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(9_000, 9_000),
    pngChunk('IDAT'),
    pngChunk('IEND'),
  ]),
  'a PNG of 0 x 10': Buffer.concat([PNG_SIGNATURE, pngHeader(0, 10), pngChunk('IDAT'), pngChunk('IEND')]),
  'a PNG of 30,000 x 30,000 in 900 MB of zeroes': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(30_000, 30_000),
    pngChunk('IDAT', deflateSync(Buffer.alloc(8 * MIB))),
    pngChunk('IEND'),
  ]),
  'an animated PNG': png(2, 2, [pngChunk('acTL', Buffer.alloc(8))]),
  'a PNG without pixels': Buffer.concat([PNG_SIGNATURE, pngHeader(2, 2), pngChunk('IEND')]),
  'a PNG without its end chunk': png().subarray(0, -12),
  'a PNG cut in a chunk': png().subarray(0, -20),
  'a PNG’s signature alone': PNG_SIGNATURE,
  'a PNG that does not begin with its header': Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IDAT'),
    pngHeader(2, 2),
    pngChunk('IEND'),
  ]),
  'a PNG with two headers': png(2, 2, [pngHeader(2, 2)]),
  'a PNG with a short header': Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', Buffer.alloc(4)),
    pngChunk('IEND'),
  ]),
  'a PNG with a wrong checksum': Buffer.concat([png().subarray(0, 40), Buffer.from([1]), png().subarray(41)]),
  'a PNG with a chunk of 4 GiB': Buffer.concat([
    PNG_SIGNATURE,
    pngHeader(2, 2),
    Buffer.from('ffffffff49444154', 'hex'),
  ]),
  'a JPG of 65,535 x 65,535': jpeg(65_535, 65_535),
  'a JPG of 10,001 x 10': jpeg(10_001, 10),
  'a JPG of 8,000 x 8,000': jpeg(8_000, 8_000),
  'a JPG without height': jpeg(10, 0),
  'a JPG with two frames': jpeg(2, 2, [jpegFrame(2, 2)]),
  'a lossless JPG': Buffer.concat([JPEG_START, jpegFrame(2, 2, 0xc3), JPEG_SCAN, JPEG_END]),
  'a JPG with arithmetic coding': Buffer.concat([JPEG_START, jpegFrame(2, 2, 0xc9), JPEG_SCAN, JPEG_END]),
  'a JPG without a frame': Buffer.concat([JPEG_START, JPEG_SCAN, JPEG_END]),
  'a JPG without a scan': Buffer.concat([JPEG_START, jpegFrame(2, 2), JPEG_END]),
  'a JPG without its end marker': jpeg().subarray(0, -2),
  'a JPG cut in a segment': jpeg().subarray(0, 12),
  'a JPG’s start alone': Buffer.from([0xff, 0xd8, 0xff]),
  'a JPG with a segment of length 0': Buffer.concat([JPEG_START, Buffer.from([0xff, 0xe0, 0, 0]), JPEG_END]),
  'a JPG with two start markers': Buffer.concat([
    JPEG_START,
    JPEG_START,
    jpegFrame(2, 2),
    JPEG_SCAN,
    JPEG_END,
  ]),
  'a JPG with garbage between segments': Buffer.concat([
    JPEG_START,
    jpegFrame(2, 2),
    Buffer.from('xx'),
    JPEG_SCAN,
    JPEG_END,
  ]),
};
