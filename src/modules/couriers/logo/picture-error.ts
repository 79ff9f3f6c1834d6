import type { FieldProblem } from '../../../platform/errors/errors.js';

/** A raster picture. */
export type Raster = {
  mediaType: 'image/png' | 'image/jpeg';
  content: Buffer;
  widthPx: number;
  heightPx: number;
};

/** Why a picture is rejected. */
export class PictureError extends Error {
  readonly problem: FieldProblem;

  constructor(...problem: FieldProblem) {
    super(problem[0]);
    this.problem = problem;
  }
}

const MAX_SIDE_PX = 10_000;
// Decoded, a picture takes four bytes per pixel, or eight with 16 bits per channel.
const MAX_PX = 16_000_000;

/**
 * Rejects decompression bombs: a file of a few bytes can declare a picture of gigabytes.
 * @throws PictureError
 */
export function assertSizeAllowed(widthPx: number, heightPx: number): void {
  if (widthPx < 1 || heightPx < 1) throw new PictureError('logo_without_size');
  if (Math.max(widthPx, heightPx) > MAX_SIDE_PX || widthPx * heightPx > MAX_PX)
    throw new PictureError('logo_too_many_pixels', {
      ...{ width: widthPx, height: heightPx },
      ...{ side: MAX_SIDE_PX, total: MAX_PX },
    });
}
