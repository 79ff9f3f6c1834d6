import {
  makeWorkerPool,
  WorkerTaskError,
  type WorkerPool,
} from '../../../platform/concurrency/worker-pool.js';
import { makeKeyedLimiter } from '../../../platform/concurrency/keyed-limiter.js';
import { PictureError, type Raster } from './picture-error.js';
import { readSource, type Picture, type Source } from './picture.js';
import type { Drawing } from './raster-worker.js';

/** A logo as it is served, and as it is printed: a PNG of at most 750 x 270 pixels. */
export type DrawnLogo = Picture & { raster: Buffer };

/**
 * Cleans a logo and draws it, once; what is printed later is the PNG.
 *
 * @param courierId whose it is: one logo of a courier at a time
 * @throws PictureError, also when it takes too long; ApiError overloaded when too many wait
 */
export type LogoDrawer = (courierId: string, bytes: Buffer) => Promise<DrawnLogo>;

const MAX_HEAP_MB = 256;
// 5,000 elements took it 1.5 s on a machine with three times as much to do as it had cores
const CLEANING_MS = 10_000;
// an ordinary logo takes 50 ms, a picture of 16 million pixels a second, and both several times that on a busy machine
const DRAWING_MS = 5_000;
/** One per courier at a time, so that a courier whose logo takes long leaves a place to all others. */
const QUEUE = { places: 2, maxWaiting: 16, maxWaitMs: 15_000, retryAfterSeconds: 1 };

export function makeLogoDrawer(): LogoDrawer {
  const limits = { maxThreads: QUEUE.places, maxHeapMb: MAX_HEAP_MB };
  const cleaners: Cleaners = makeWorkerPool('modules/couriers/logo/svg-worker.js', {
    ...limits,
    timeoutMs: CLEANING_MS,
  });
  const painters: Painters = makeWorkerPool('modules/couriers/logo/raster-worker.js', {
    ...limits,
    timeoutMs: DRAWING_MS,
  });
  const turns = makeKeyedLimiter(QUEUE);

  return async (courierId, bytes) => {
    const source = readSource(bytes);
    return turns.run(courierId, async () => {
      const picture = await clean(source, cleaners);
      const raster = await draw(picture, source, painters);
      return { ...picture, raster };
    });
  };
}

type Cleaners = WorkerPool<string, string | undefined>;
type Painters = WorkerPool<Drawing, Uint8Array | undefined>;

async function clean(source: Source, cleaners: Cleaners): Promise<Picture> {
  if (source.mediaType !== 'image/svg+xml') return { mediaType: source.mediaType, content: source.content };
  const cleaned = await run(cleaners, source.svg);
  if (cleaned === undefined) throw new PictureError('Of the SVG nothing remains that may be shown.');
  return { mediaType: 'image/svg+xml', content: Buffer.from(cleaned) };
}

async function draw({ content }: Picture, source: Source, painters: Painters): Promise<Buffer> {
  const drawing = source.mediaType === 'image/svg+xml' ? { svg: content.toString() } : framed(source);
  const png = await run(painters, drawing);
  if (!png) throw new PictureError('The logo shows nothing, or its pixels are damaged.');
  return Buffer.from(png.buffer, png.byteOffset, png.byteLength);
}

/** The library draws SVGs alone. */
function framed({ mediaType, content, widthPx: width, heightPx: height }: Raster): Drawing {
  const size = `width="${width}" height="${height}"`;
  const uri = `data:${mediaType};base64,${content.toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} href="${uri}"/></svg>`;
  return { svg, largest: { width, height } };
}

async function run<Message, Result>(threads: WorkerPool<Message, Result>, message: Message): Promise<Result> {
  try {
    return await threads.run(message);
  } catch (error) {
    // The picture needs too much time, memory or stack.
    if (error instanceof WorkerTaskError)
      throw new PictureError('The logo takes too long to draw. Simplify it.');
    throw error;
  }
}
