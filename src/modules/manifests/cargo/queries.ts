import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', ['id', 'status', 'manifestId']);

/** A locked package. */
export type CargoRow = RowOf<typeof PACKAGE>;

/** Locks the packages that exist in the tenant. */
export const lockedPackages = (ctx: UserScope, ids: string[]): Sql<CargoRow> =>
  // Sorted, because two scanners that locked in opposite orders deadlocked.
  once`select ${PACKAGE} from packages p
    where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[])
    order by p.id
    for update`;

/** Counts the packages on a manifest. */
const aboard = (ctx: UserScope, manifestId: string): Sql =>
  sql`select count(*)::int as count from packages p
    where ${tenantRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid`;

export const countPackagesAboard = (ctx: UserScope, manifestId: string): Sql<{ count: number }> =>
  once`${aboard(ctx, manifestId)}`;

/**
 * Assigns packages that are on no manifest, or none if the manifest would have more than `most`. The manifest must be locked: otherwise
 * two callers could fill the same room.
 */
export const assignPackages = (ctx: UserScope, manifestId: string, ids: string[], most: number): Sql => once`
  update packages p set manifest_id = ${manifestId}::uuid, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id is null
    and (${aboard(ctx, manifestId)}) <= ${most - ids.length}::int`;

/** Removes packages from this manifest. */
export const releasePackages = (ctx: UserScope, manifestId: string, ids: string[]): Sql => once`
  update packages p set manifest_id = null, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id = ${manifestId}::uuid`;
