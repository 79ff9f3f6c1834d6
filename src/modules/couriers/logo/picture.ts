import { readJpeg } from './jpeg.js';
import type { MediaType } from '../shared/profile.js';
import type { Raster } from './picture-error.js';
import { readPng } from './png.js';
import { scanSvg } from './svg-scan.js';

export type { MediaType };
export type Picture = { mediaType: MediaType; content: Buffer };

/** The content of a file before it is drawn. */
export type Source = Raster | { mediaType: 'image/svg+xml'; svg: string };

/**
 * Detects the type of a logo by its content, not by its name. Does not use a library for format detection,
 * because those unpack archives.
 * @throws PictureError
 */
export function readSource(bytes: Buffer): Source {
  return readRaster(bytes) ?? { mediaType: 'image/svg+xml', svg: scanSvg(bytes) };
}

/**
 * Returns a PNG or JPG without metadata, or undefined if the bytes are neither.
 * @throws PictureError
 */
export const readRaster = (bytes: Buffer): Raster | undefined => readPng(bytes) ?? readJpeg(bytes);
