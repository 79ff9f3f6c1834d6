import { Fault } from '../errors.js';
import { readJpeg } from './jpeg.js';
import { PictureFault } from './picture-fault.js';
import { readPng } from './png.js';
import { scanSvg } from './svg-scan.js';
import type { SvgCleaner } from './svg.js';

export type MediaType = 'image/png' | 'image/jpeg' | 'image/svg+xml';
export type Picture = { mediaType: MediaType; content: Buffer };

/**
 * Reads a logo by what it holds, whatever it is called, and answers it without anything that is not the picture.
 * No library that sniffs formats looks at it: those unpack archives to see what is inside.
 *
 * @throws Fault logo_not_acceptable, and what cleanSvg throws
 */
export async function readPicture(bytes: Buffer, cleanSvg: SvgCleaner): Promise<Picture> {
  try {
    return readRaster(bytes) ?? { mediaType: 'image/svg+xml', content: await readSvg(bytes, cleanSvg) };
  } catch (error) {
    if (!(error instanceof PictureFault)) throw error;
    const { message } = error;
    throw new Fault('logo_not_acceptable', message, {
      errors: [{ field: 'logo', code: 'content', message }],
    });
  }
}

/** A PNG or a JPG; undefined when the bytes begin as neither. @throws PictureFault when they go on otherwise */
export function readRaster(bytes: Buffer): Picture | undefined {
  const png = readPng(bytes);
  if (png) return { mediaType: 'image/png', content: png };
  const jpeg = readJpeg(bytes);
  return jpeg && { mediaType: 'image/jpeg', content: jpeg };
}

async function readSvg(bytes: Buffer, cleanSvg: SvgCleaner): Promise<Buffer> {
  const cleaned = await cleanSvg(scanSvg(bytes));
  if (cleaned === undefined) throw new PictureFault('Of the SVG nothing remains that may be shown.');
  return Buffer.from(cleaned);
}
