import { readJpeg } from './jpeg.js';
import type { MediaType } from '../shared/media-type.js';
import type { Raster } from './picture-error.js';
import { readPng } from './png.js';
import { scanSvg } from './svg-scan.js';

export type { MediaType };
export type Picture = { mediaType: MediaType; content: Buffer };

/** What a file holds, before anything of it is drawn. */
export type Source = Raster | { mediaType: 'image/svg+xml'; svg: string };

/**
 * Reads a logo by what it holds, whatever it is called. No library that sniffs formats looks at it: those unpack archives
 * to see what is inside.
 *
 * @throws PictureError
 */
export function readSource(bytes: Buffer): Source {
  return readRaster(bytes) ?? { mediaType: 'image/svg+xml', svg: scanSvg(bytes) };
}

/** A PNG or a JPG, without anything that is not the picture; undefined when the bytes begin as neither. @throws PictureError */
export const readRaster = (bytes: Buffer): Raster | undefined => readPng(bytes) ?? readJpeg(bytes);
