import type { FieldProblem } from '../../../platform/errors/errors.js';

/** A picture of pixels. */
export type Raster = {
  mediaType: 'image/png' | 'image/jpeg';
  content: Buffer;
  widthPx: number;
  heightPx: number;
};

/** What is wrong with a picture. */
export class PictureError extends Error {
  readonly problem: FieldProblem;

  constructor(...problem: FieldProblem) {
    super(problem[0]);
    this.problem = problem;
  }
}

const MAX_SIDE_PX = 10_000;
// unpacked, four bytes per pixel and twice that with 16 bits per channel
const MAX_PX = 16_000_000;

/** A picture of a few bytes may ask whoever shows it for gigabytes. @throws PictureError */
export function assertModest(widthPx: number, heightPx: number): void {
  if (widthPx < 1 || heightPx < 1) throw new PictureError('logo_without_size');
  if (Math.max(widthPx, heightPx) > MAX_SIDE_PX || widthPx * heightPx > MAX_PX)
    throw new PictureError('logo_too_many_pixels', {
      ...{ width: widthPx, height: heightPx },
      ...{ side: MAX_SIDE_PX, total: MAX_PX },
    });
}
