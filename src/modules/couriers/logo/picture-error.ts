/** A picture of pixels. */
export type Raster = {
  mediaType: 'image/png' | 'image/jpeg';
  content: Buffer;
  widthPx: number;
  heightPx: number;
};

/** What is wrong with a picture, as a sentence for who sent it. */
export class PictureError extends Error {}

const MAX_SIDE_PX = 10_000;
// unpacked, four bytes per pixel and twice that with 16 bits per channel
const MAX_PX = 16_000_000;

/** A picture of a few bytes may ask whoever shows it for gigabytes. @throws PictureError */
export function assertModest(widthPx: number, heightPx: number): void {
  if (widthPx < 1 || heightPx < 1) throw new PictureError('The logo has no size.');
  if (Math.max(widthPx, heightPx) > MAX_SIDE_PX || widthPx * heightPx > MAX_PX)
    throw new PictureError(
      `The logo is ${widthPx} x ${heightPx} pixels. Send it with at most ${MAX_SIDE_PX} a side and ${MAX_PX} altogether.`,
    );
}
