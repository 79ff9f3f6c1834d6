import { tenantRows } from '../../../platform/db/filters.js';
import { columns } from '../../../platform/db/columns.js';
import type { CourierLogo } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { SystemScope, UserScope } from '../../../platform/db/scope.js';
import type { MediaType } from '../shared/profile.js';

/** A logo without its content. */
export type LogoHeadRow = Pick<CourierLogo, 'contentHash'> & { mediaType: MediaType };
export type LogoRow = LogoHeadRow & { content: Buffer };

const HEAD = columns('CourierLogo', 'l', ['contentHash', 'mediaType']);

export const currentLogo = (ctx: UserScope, courierId: string): Sql<LogoHeadRow> =>
  sql`select ${HEAD} from courier_logos l where ${tenantRows(ctx, 'l')} and l.courier_id = ${courierId}::uuid`;

/** Replaces the courier's only logo. SQL, because an upsert of the model reads the logo before it writes. */
export const replaceLogo = (ctx: UserScope, courierId: string, logo: LogoRow & { raster: Buffer }): Sql =>
  sql`insert into courier_logos (tenant_id, courier_id, content_hash, media_type, content, raster)
    values (${ctx.tenantId}::uuid, ${courierId}::uuid, ${logo.contentHash}, ${logo.mediaType}, ${logo.content},
      ${logo.raster})
    on conflict (tenant_id, courier_id) do update set content_hash = excluded.content_hash,
      media_type = excluded.media_type, content = excluded.content, raster = excluded.raster, raster_failed_at = null,
      stored_at = now()`;

/** Stores the PNG, or that the logo cannot be drawn. Changes nothing if the logo was replaced in the meantime. */
export const storeRaster = (
  ctx: SystemScope,
  {
    courierId,
    contentHash,
    raster,
  }: Pick<CourierLogo, 'courierId' | 'contentHash'> & { raster: Buffer | null },
): Sql =>
  sql`update courier_logos l set raster = ${raster}, raster_failed_at = case when ${raster}::bytea is null then now() end
    where ${tenantRows(ctx, 'l')} and l.courier_id = ${courierId}::uuid and l.content_hash = ${contentHash}
      and l.raster is null`;

export const selectLogo = (ctx: SystemScope, courierId: string, hash: string): Sql<LogoRow> =>
  sql`select ${HEAD}, l.content from courier_logos l where ${hasHash(ctx, courierId, hash)}`;

/** As selectLogo, without the content. */
export const findLogo = (ctx: SystemScope, courierId: string, hash: string): Sql<LogoHeadRow> =>
  sql`select ${HEAD} from courier_logos l where ${hasHash(ctx, courierId, hash)}`;

const hasHash = (ctx: SystemScope, courierId: string, hash: string): Sql =>
  sql`${tenantRows(ctx, 'l')} and l.courier_id = ${courierId}::uuid and l.content_hash = ${hash}`;
