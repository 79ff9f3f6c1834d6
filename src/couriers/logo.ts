import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import type { SystemCaller } from '../auth/callers.js';
import type { UploadedFile } from '../contract/types.js';
import { inScope, readInScope, type Db } from '../db/transaction.js';
import { Fault } from '../errors.js';
import { found, record, type Change } from './context.js';
import { readPicture, type MediaType } from './picture.js';
import { findLogo, lockCourier, replaceLogo, selectLogo, type LogoRow } from './queries.js';
import type { SvgCleaner } from './svg.js';

const EXTENSIONS: Record<MediaType, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
};

/** Where a logo is served, relative to the host. */
export const pathOf = (courierId: string, hash: string, mediaType: MediaType): string =>
  `logos/${courierId}/${hash}.${EXTENSIONS[mediaType]}`;

/**
 * Cleans a picture and makes it the courier's logo. Answers its path.
 *
 * @throws Fault logo_not_acceptable, courier_not_found, overloaded
 */
export async function storeLogo(change: Change, file: UploadedFile, cleanSvg: SvgCleaner): Promise<string> {
  const { mediaType, content } = await readPicture(await readFile(file.path), cleanSvg);
  const content_hash = createHash('sha256').update(content).digest('hex');
  const path = pathOf(change.courierId, content_hash, mediaType);
  await inScope(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const { logo_hash, logo_media_type } = found(await lockCourier(ctx));
    if (logo_hash === content_hash) return;
    await replaceLogo(ctx, { content_hash, media_type: mediaType, content });
    const before = logo_hash && logo_media_type ? pathOf(change.courierId, logo_hash, logo_media_type) : null;
    await record(ctx, {
      action: 'courier.logo_replaced',
      before: { logo_path: before },
      after: { logo_path: path },
    });
  });
  return path;
}

/** What is shown again and again: anybody may ask, and each reply held a copy of its own. */
const CACHE_BYTES = 16 * 1024 * 1024;

export type LogoReader = (tenantId: string, path: { courier_id: string; file: string }) => Promise<LogoRow>;

/** Reads the logo behind a path. Nobody is asked who they are: pages show it. */
export function makeLogoReader(db: Db): LogoReader {
  const cache = new LRUCache<string, LogoRow>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ content }) => content.length + 1,
  });

  /** @throws Fault logo_not_found */
  return async (tenantId, { courier_id: courierId, file }) => {
    const caller: SystemCaller = { kind: 'system', tenantId };
    const [hash = '', extension] = file.split('.');
    const key = `${tenantId} ${courierId.toLowerCase()} ${hash}`;
    const kept = cache.get(key);
    // asked each time, because another logo may have taken its place
    const statement = kept ? findLogo : selectLogo;
    const [rows] = await readInScope(db, caller, [statement(db, caller, courierId, hash)]);
    // The shape that both statements select, findLogo without the content.
    const row = rows?.[0] as LogoRow | undefined;
    if (!row || EXTENSIONS[row.media_type] !== extension) throw new Fault('logo_not_found');
    if (kept) return kept;
    cache.set(key, row);
    return row;
  };
}
