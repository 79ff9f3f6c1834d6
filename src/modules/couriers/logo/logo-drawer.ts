import { WorkerTaskError, type TaskRunner } from '../../../platform/concurrency/task-limit.js';
import { makeWorkerPool } from '../../../platform/concurrency/worker-pool.js';
import { makeOwnLimits } from '../../../platform/limits/shared/shared-limits.js';
import { makeTimeBudget } from '../../../platform/limits/time-budget.js';
import { PictureError, type Raster } from './picture-error.js';
import { readSource, type Picture, type Source } from './picture.js';
import type { Drawing } from './renderer.js';

/** A logo as served, and as printed: a PNG of at most 750 x 270 pixels. */
export type DrawnLogo = Picture & { raster: Buffer };

/**
 * Sanitises and draws a logo once; documents later use the PNG.
 * @param owner limits each courier to one logo at a time. Tenants take turns
 * @param options isUploaded: the hour of the courier limits it. A stored logo is drawn once, whatever else was drawn
 * @throws PictureError, also after the time limit; ApiError overloaded if too many requests wait, quota_exceeded
 */
export type LogoDrawer = (
  owner: LogoOwner,
  bytes: Buffer,
  options?: { isUploaded?: boolean },
) => Promise<DrawnLogo>;

export type LogoOwner = { tenantId: string; courierId: string };

const MAX_HEAP_MB = 256;
// 5,000 elements took 1.5 s on a machine with three times more load than cores.
const CLEANING_MS = 10_000;
// An ordinary logo takes 50 ms, a picture of 16 million pixels a second. Both take several times as long on a
// busy machine.
const DRAWING_MS = 5_000;
/**
 * One per tenant at a time, and two together: each can take 260 MB, in a server that may have 1 GiB (deploy/helm). Couriers take turns, so
 * that slow logos of one do not block the others for long.
 */
const QUEUE = { concurrency: 2, perTenant: 1, maxWaiting: 16, maxWaitMs: 15_000, retryAfterSeconds: 1 };

const DRAWING = {
  policy: 'logo-drawing',
  quota: 300_000,
  windowSeconds: 60 * 60,
  unit: 'milliseconds',
} as const;

/** How long a drawing may take, and all of a courier within an hour, in milliseconds. */
export type DrawingTimes = { taskMs?: number; hourMs?: number };

export function makeLogoDrawer(
  { taskMs = DRAWING_MS, hourMs = DRAWING.quota }: DrawingTimes = {},
  limits = makeOwnLimits(),
): LogoDrawer {
  const threads = { maxThreads: QUEUE.concurrency, maxHeapMb: MAX_HEAP_MB };
  const sanitizers: Sanitizers = makeWorkerPool('modules/couriers/logo/svg-worker.js', {
    ...threads,
    timeoutMs: CLEANING_MS,
  });
  const drawing = { ...threads, timeoutMs: taskMs };
  const renderers: Renderers = {
    raster: makeWorkerPool('modules/couriers/logo/raster-worker.js', drawing),
    vector: makeWorkerPool('modules/couriers/logo/vector-worker.js', drawing),
  };
  const limiter = limits.keyedLimiter('logos', QUEUE);
  const budget = makeTimeBudget(limits, { ...DRAWING, quota: hourMs }, 'logo_drawing', CLEANING_MS + taskMs);

  return async ({ tenantId, courierId }, bytes, { isUploaded = false } = {}) => {
    const source = readSource(bytes);
    const key = `${tenantId} ${courierId}`;
    const drawSource = async () => {
      if (isUploaded) await budget.assertLeft(key);
      return budget.spend(key, async () => {
        const picture = await clean(source, sanitizers);
        const raster = await draw(picture, source, renderers);
        return { ...picture, raster };
      });
    };
    return limiter.run(key, drawSource, { tenant: tenantId });
  };
}

type Sanitizers = TaskRunner<string, string | undefined>;
type Renderers = Record<'raster' | 'vector', TaskRunner<Drawing, Uint8Array | undefined>>;

async function clean(source: Source, sanitizers: Sanitizers): Promise<Picture> {
  if (source.mediaType !== 'image/svg+xml') return { mediaType: source.mediaType, content: source.content };
  const cleaned = await run(sanitizers, source.svg);
  if (cleaned === undefined) throw new PictureError('logo_svg_empty');
  return { mediaType: 'image/svg+xml', content: Buffer.from(cleaned) };
}

async function draw({ content }: Picture, source: Source, renderers: Renderers): Promise<Buffer> {
  const png =
    source.mediaType === 'image/svg+xml'
      ? await run(renderers.vector, { svg: content.toString() })
      : await run(renderers.raster, framed(source));
  if (!png) throw new PictureError('logo_blank');
  return Buffer.from(png.buffer, png.byteOffset, png.byteLength);
}

/** Embeds a raster picture in an SVG, because the library draws only SVGs. */
function framed({ mediaType, content, widthPx: width, heightPx: height }: Raster): Drawing {
  const size = `width="${width}" height="${height}"`;
  const uri = `data:${mediaType};base64,${content.toString('base64')}`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" ${size}><image ${size} href="${uri}"/></svg>`;
  return { svg, largest: { width, height } };
}

async function run<Message, Result>(threads: TaskRunner<Message, Result>, message: Message): Promise<Result> {
  try {
    return await threads.run(message);
  } catch (error) {
    // The time, memory or stack limit was exceeded. The picture is the cause.
    if (error instanceof WorkerTaskError) throw new PictureError('logo_too_complex');
    throw error;
  }
}
