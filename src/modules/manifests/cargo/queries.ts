import { tenantRows } from '../../../platform/db/filters.js';
import { once, type RowOf, type Sql } from '../../../platform/db/statements.js';
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
export const countPackagesAboard = (ctx: UserScope, manifestId: string): Sql<{ count: number }> => once`
  select count(*)::int as count from packages p
  where ${tenantRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid`;

/** Assigns packages that are on no manifest. */
export const assignPackages = (ctx: UserScope, manifestId: string, ids: string[]): Sql => once`
  update packages p set manifest_id = ${manifestId}::uuid, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id is null`;

/** Removes packages from this manifest. */
export const releasePackages = (ctx: UserScope, manifestId: string, ids: string[]): Sql => once`
  update packages p set manifest_id = null, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id = ${manifestId}::uuid`;
