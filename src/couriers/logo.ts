import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { SystemCaller } from '../auth/callers.js';
import type { UploadedFile } from '../contract/types.js';
import { inScope, readInScope, type Db } from '../db/transaction.js';
import { Fault } from '../errors.js';
import { found, record, type Change } from './context.js';
import { readPicture, type MediaType } from './picture.js';
import { lockCourier, replaceLogo, selectLogo, type LogoRow } from './queries.js';
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

/** The logo behind a path. Nobody is asked who they are: pages show it. @throws Fault logo_not_found */
export async function readLogo(
  db: Db,
  tenantId: string,
  { courier_id, file }: { courier_id: string; file: string },
): Promise<LogoRow> {
  const caller: SystemCaller = { kind: 'system', tenantId };
  const [hash = '', extension] = file.split('.');
  const [rows] = await readInScope(db, caller, [selectLogo(db, caller, courier_id, hash)]);
  // as: the shape that the statement selects
  const logo = rows?.[0] as LogoRow | undefined;
  if (!logo || EXTENSIONS[logo.media_type] !== extension) throw new Fault('logo_not_found');
  return logo;
}
