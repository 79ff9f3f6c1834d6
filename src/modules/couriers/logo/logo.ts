import { lock } from '../../../platform/db/columns.js';
import { auditLater } from '../../../platform/audit/audit.js';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type {
  RequestContext,
  SystemContext,
  UserContext,
} from '../../../platform/context/request-context.js';
import type { UploadedFile } from '../../../platform/contract/types.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import type { DrawnLogo, LogoDrawer, LogoOwner } from './logo-drawer.js';
import { PictureError } from './picture-error.js';
import type { MediaType } from './picture.js';
import {
  currentLogo,
  findLogo,
  replaceLogo,
  selectLogo,
  storeRaster,
  type LogoHeadRow,
  type LogoRow,
} from './queries.js';

const EXTENSIONS: Record<MediaType, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
};

/** Returns the path of a logo, relative to the host. */
export const pathOf = (courierId: string, hash: string, mediaType: MediaType): string =>
  `logos/${courierId}/${hash}.${EXTENSIONS[mediaType]}`;

/**
 * Sanitises and draws a picture, stores it as the courier's logo and returns its path.
 * @throws ApiError logo_not_acceptable, courier_not_found, overloaded, quota_exceeded
 */
export async function storeLogo(
  ctx: UserContext,
  courierId: string,
  { file, drawLogo }: { file: UploadedFile; drawLogo: LogoDrawer },
): Promise<string> {
  const { mediaType, content, raster } = await drawSent(
    { tenantId: ctx.tenantId, courierId },
    await readFile(file.path),
    drawLogo,
  );
  const contentHash = createHash('sha256').update(content).digest('hex');
  const path = pathOf(courierId, contentHash, mediaType);
  await ctx.write(async (tx) => {
    await lock(tx, 'Courier', courierId, ['id']);
    const [stored] = await tx.query(currentLogo(ctx, courierId));
    if (stored?.contentHash === contentHash) return;
    await tx.count(replaceLogo(ctx, courierId, { contentHash, mediaType, content, raster }));
    const before = stored ? pathOf(courierId, stored.contentHash, stored.mediaType) : null;
    const paths = { before: { logo_path: before }, after: { logo_path: path } };
    auditLater(tx, 'courier.logo_replaced', courierId, { ...paths });
  });
  return path;
}

/**
 * Deletes the courier's logo. Returns false if there is none.
 * @throws ApiError courier_not_found
 */
export async function deleteLogo(ctx: UserContext, courierId: string): Promise<boolean> {
  return ctx.write(async (tx) => {
    await lock(tx, 'Courier', courierId, ['id']);
    const [stored] = await tx.query(currentLogo(ctx, courierId));
    if (!stored) return false;
    await tx.models.courierLogo.deleteMany({ where: { courierId } });
    const before = pathOf(courierId, stored.contentHash, stored.mediaType);
    const paths = { before: { logo_path: before }, after: { logo_path: null } };
    auditLater(tx, 'courier.logo_deleted', courierId, { ...paths });
    return true;
  });
}

/**
 * Caches recently served logos. The operation is public, and without the cache each response holds its own
 * copy.
 */
const CACHE_BYTES = 16 * 1024 * 1024;

export type LogoReader = (ctx: SystemContext, path: { courier_id: string; file: string }) => Promise<LogoRow>;

/**
 * Returns a function that reads the logo of a path. It needs no authentication, because web pages embed it.
 */
export function makeLogoReader(): LogoReader {
  const cache = new LRUCache<string, LogoRow>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ content }) => content.length + 1,
  });

  /** @throws ApiError logo_not_found */
  return async (ctx, { courier_id: courierId, file }) => {
    const [hash = '', extension] = file.split('.');
    const key = `${ctx.tenantId} ${courierId.toLowerCase()} ${hash}`;
    const cached = cache.get(key);
    if (cached) {
      // The logo may have been replaced.
      const [[current]] = await ctx.read([findLogo(ctx, courierId, hash)]);
      assertExtension(current, extension);
      return cached;
    }
    const [[logo]] = await ctx.read([selectLogo(ctx, courierId, hash)]);
    assertExtension(logo, extension);
    cache.set(key, logo);
    return logo;
  };
}

/** @throws ApiError logo_not_found if there is no logo, or one of another type than its path says */
function assertExtension<Row extends LogoHeadRow>(
  row: Row | undefined,
  extension: string | undefined,
): asserts row is Row {
  if (!row || EXTENSIONS[row.mediaType] !== extension) throw new ApiError('logo_not_found');
}

/** @throws ApiError logo_not_acceptable, overloaded */
async function drawSent(owner: LogoOwner, bytes: Buffer, drawLogo: LogoDrawer): Promise<DrawnLogo> {
  try {
    return await drawLogo(owner, bytes, { isUploaded: true });
  } catch (error) {
    if (!(error instanceof PictureError)) throw error;
    throw new ApiError('logo_not_acceptable', { errors: [fieldError('logo', ...error.problem)] });
  }
}

/** A courier's stored logo when a bill is printed. */
export type StoredLogo = {
  courier_id: string;
  content_hash: string;
  raster: Buffer | null;
  /** The original if it has not been drawn yet, otherwise null. Also null if it cannot be drawn. */
  undrawn: Buffer | null;
};

export type LogoPrinter = (ctx: RequestContext, logo: StoredLogo) => Promise<Buffer | undefined>;

/**
 * Returns a function that returns the PNG of a logo. If a logo has no PNG yet, because an earlier version stored it, the
 * function draws and stores it. It returns undefined if the logo cannot be drawn, and stores that result too.
 */
export function makeLogoPrinter(drawLogo: LogoDrawer): LogoPrinter {
  return async (ctx, { courier_id: courierId, content_hash: contentHash, raster, undrawn }) => {
    if (raster || !undrawn) return raster ?? undefined;
    const drawn = await drawOrUndefined({ tenantId: ctx.tenantId, courierId }, undrawn, drawLogo);
    const system = ctx.asTenant();
    await system.write([storeRaster(system, { courierId, contentHash, raster: drawn ?? null })]);
    return drawn;
  };
}

/** @throws ApiError overloaded */
async function drawOrUndefined(
  owner: LogoOwner,
  bytes: Buffer,
  drawLogo: LogoDrawer,
): Promise<Buffer | undefined> {
  try {
    return (await drawLogo(owner, bytes)).raster;
  } catch (error) {
    if (error instanceof PictureError) return undefined;
    throw error;
  }
}
