/** A raster picture. */
export type Raster = {
  mediaType: 'image/png' | 'image/jpeg';
  content: Buffer;
  widthPx: number;
  heightPx: number;
};

/** Why a picture is rejected, as a sentence for the sender. */
export class PictureError extends Error {}

const MAX_SIDE_PX = 10_000;
// Decoded, a picture takes four bytes per pixel, or eight with 16 bits per channel.
const MAX_PX = 16_000_000;

/**
 * Rejects decompression bombs: a file of a few bytes can declare a picture of gigabytes.
 * @throws PictureError
 */
export function assertSizeAllowed(widthPx: number, heightPx: number): void {
  if (widthPx < 1 || heightPx < 1) throw new PictureError('The logo has no size.');
  if (Math.max(widthPx, heightPx) > MAX_SIDE_PX || widthPx * heightPx > MAX_PX)
    throw new PictureError(
      `The logo is ${widthPx} x ${heightPx} pixels. Send it with at most ${MAX_SIDE_PX} a side and ${MAX_PX} altogether.`,
    );
}
