import { tenantRows } from '../../../platform/db/filters.js';
import type { Package } from '../../../platform/db/models/types.js';
import { once, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { PackageStatus } from '../../packages/public.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', ['id', 'status', 'courierId', 'weightLb']);

/** Removes the packages of the given statuses that were not loaded for the manifest, and returns them. */
export const leaveBehind = (
  ctx: UserScope,
  manifestId: string,
  statuses: PackageStatus[],
): Sql<Pick<Package, 'id'>> => once`
  update packages p set manifest_id = null, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid and p.status = any(${statuses}::text[])
    and not exists (select from parcel_positions o
      where ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.parcel_key = p.tracking_key
        and o.manifest_id = p.manifest_id)
  returning p.id`;

/** The columns of a package that a status change needs. */
export type ManifestPackageRow = RowOf<typeof PACKAGE> & { status: PackageStatus };

/** Selects one package on the manifest. */
export const findPackageAboard = (ctx: UserScope, manifestId: string): Sql<Pick<Package, 'id'>> => once`
  select p.id from packages p where ${tenantRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid limit 1`;

/** Locks every package on the manifest; none for null. */
export const lockedManifestPackages = (
  ctx: UserScope,
  manifestId: string | null,
): Sql<ManifestPackageRow> => once`
  select ${PACKAGE} from packages p
  where ${tenantRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid
  order by p.id
  for update`;

/**
 * Appends an event to each package, from its current status to `status`. `eventIds` must be as many as `ids`.
 */
export const appendStatusEvents = (
  ctx: UserScope,
  { ids, eventIds, status }: { ids: string[]; eventIds: string[]; status: string },
): Sql => once`
  insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
    occurred_at, recorded_at, source)
  select p.tenant_id, event.id, p.id, p.courier_id, p.status, ${status}, ${ctx.caller.userId}::uuid,
    -- not the time of the transaction, which may have waited for an earlier event to be recorded
    statement_timestamp(), statement_timestamp(), 'manifest'
  from unnest(${eventIds}::uuid[], ${ids}::uuid[]) as event (id, package_id)
  join packages p on p.id = event.package_id and ${tenantRows(ctx, 'p')}`;

export const setPackageStatus = (ctx: UserScope, ids: string[], status: string): Sql => once`
  update packages p set status = ${status}, updated_at = now()
  where ${tenantRows(ctx, 'p')} and p.id = any(${ids}::uuid[])`;
