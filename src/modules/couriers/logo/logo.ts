import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { UploadedFile } from '../../../platform/contract/types.js';
import { transaction, snapshot, type Db } from '../../../platform/db/transaction.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { found, record, type Change } from '../shared/context.js';
import type { DrawnLogo, LogoDrawer } from './logo-drawer.js';
import { PictureError } from './picture-error.js';
import type { MediaType } from './picture.js';
import {
  findLogo,
  storeRaster,
  lockCourier,
  replaceLogo,
  selectLogo,
  type LogoRow,
} from '../shared/queries.js';

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
 * @throws ApiError logo_not_acceptable, courier_not_found, overloaded
 */
export async function storeLogo(change: Change, file: UploadedFile, drawLogo: LogoDrawer): Promise<string> {
  const { mediaType, content, raster } = await drawSent(
    change.courierId,
    await readFile(file.path),
    drawLogo,
  );
  const content_hash = createHash('sha256').update(content).digest('hex');
  const path = pathOf(change.courierId, content_hash, mediaType);
  await transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const { logo_hash, logo_media_type } = found(await lockCourier(ctx));
    if (logo_hash === content_hash) return;
    await replaceLogo(ctx, { content_hash, media_type: mediaType, content, raster });
    const before = logo_hash && logo_media_type ? pathOf(change.courierId, logo_hash, logo_media_type) : null;
    await record(ctx, {
      action: 'courier.logo_replaced',
      before: { logo_path: before },
      after: { logo_path: path },
    });
  });
  return path;
}

/**
 * Caches recently served logos. The operation is public, and without the cache each response holds its own
 * copy.
 */
const CACHE_BYTES = 16 * 1024 * 1024;

export type LogoReader = (tenantId: string, path: { courier_id: string; file: string }) => Promise<LogoRow>;

/**
 * Returns a function that reads the logo of a path. It needs no authentication, because web pages embed it.
 */
export function makeLogoReader(db: Db): LogoReader {
  const cache = new LRUCache<string, LogoRow>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ content }) => content.length + 1,
  });

  /** @throws ApiError logo_not_found */
  return async (tenantId, { courier_id: courierId, file }) => {
    const caller: SystemCaller = { kind: 'system', tenantId };
    const [hash = '', extension] = file.split('.');
    const key = `${tenantId} ${courierId.toLowerCase()} ${hash}`;
    const kept = cache.get(key);
    // Queried for each request, because the logo may have been replaced.
    const statement = kept ? findLogo : selectLogo;
    const [rows] = await snapshot(db, caller, [statement(db, caller, courierId, hash)]);
    // Both statements select exactly these columns, findLogo without the content.
    const row = rows?.[0] as LogoRow | undefined;
    if (!row || EXTENSIONS[row.media_type] !== extension) throw new ApiError('logo_not_found');
    if (kept) return kept;
    cache.set(key, row);
    return row;
  };
}

/** @throws ApiError logo_not_acceptable, overloaded */
async function drawSent(courierId: string, bytes: Buffer, drawLogo: LogoDrawer): Promise<DrawnLogo> {
  try {
    return await drawLogo(courierId, bytes);
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
 * Returns a function that returns the PNG of a logo. A logo from before PNGs were stored is drawn and stored
 * now. Returns undefined if it cannot be drawn, and stores that too.
 */
export function makeLogoPrinter(drawLogo: LogoDrawer): LogoPrinter {
  return async (ctx, { courier_id: courierId, content_hash: hash, raster, undrawn }) => {
    if (raster || !undrawn) return raster ?? undefined;
    const drawn = await drawOrUndefined(courierId, undrawn, drawLogo);
    const system = ctx.asSystem();
    await system.transaction((tx) =>
      storeRaster(system, tx, system.caller, { courierId, hash, raster: drawn ?? null }),
    );
    return drawn;
  };
}

/** @throws ApiError overloaded */
async function drawOrUndefined(
  courierId: string,
  bytes: Buffer,
  drawLogo: LogoDrawer,
): Promise<Buffer | undefined> {
  try {
    return (await drawLogo(courierId, bytes)).raster;
  } catch (error) {
    if (error instanceof PictureError) return undefined;
    throw error;
  }
}
