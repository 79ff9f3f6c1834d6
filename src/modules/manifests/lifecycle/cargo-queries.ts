import { tenantRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import type { PackageStatus } from '../../packages/public.js';
import type { Ctx } from '../shared/context.js';

/** A locked package. */
export type CargoRow = { id: string; status: string; manifest_id: string | null };

/** Locks and returns the packages that exist in the tenant. */
export async function lockPackages({ db, tx, caller }: Ctx, ids: string[]): Promise<CargoRow[]> {
  // Sorted, because two scanners that locked in opposite orders deadlocked.
  return tx.query<CargoRow>(sql`
    select p.id, p.status, p.manifest_id from packages p
    where ${tenantRows(db, caller, 'p')} and p.id = any(${ids}::uuid[])
    order by p.id
    for update`);
}

/** Assigns packages that are on no manifest. Returns the number of updated rows. */
export async function assignPackages(
  { db, tx, caller }: Ctx,
  manifestId: string,
  ids: string[],
): Promise<number> {
  return tx.execute(sql`
    update packages p set manifest_id = ${manifestId}::uuid, updated_at = now()
    where ${tenantRows(db, caller, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id is null`);
}

/** Removes packages from this manifest. Returns the number of updated rows. */
export async function releasePackages(
  { db, tx, caller }: Ctx,
  manifestId: string,
  ids: string[],
): Promise<number> {
  return tx.execute(sql`
    update packages p set manifest_id = null, updated_at = now()
    where ${tenantRows(db, caller, 'p')} and p.id = any(${ids}::uuid[]) and p.manifest_id = ${manifestId}::uuid`);
}

/** The columns of a package that a status change needs. */
export type ManifestPackageRow = {
  id: string;
  status: PackageStatus;
  courier_id: string | null;
  user_code: string | null;
  tracking_number: string;
};

/** Locks and returns every package on the manifest. */
export async function lockManifestPackages(
  { db, tx, caller }: Ctx,
  manifestId: string,
): Promise<ManifestPackageRow[]> {
  return tx.query<ManifestPackageRow>(sql`
    select p.id, p.status, p.courier_id, p.user_code, p.tracking_number from packages p
    where ${tenantRows(db, caller, 'p')} and p.manifest_id = ${manifestId}::uuid
    order by p.id
    for update`);
}

/**
 * Appends an event to each package, from its current status to `status`. `eventIds` must be as many as `ids`.
 */
export async function appendStatusEvents(
  { db, tx, caller }: Ctx,
  { ids, eventIds, status }: { ids: string[]; eventIds: string[]; status: string },
): Promise<number> {
  return tx.execute(sql`
    insert into package_events (tenant_id, id, package_id, courier_id, previous_status, status, actor_user_id,
      occurred_at, recorded_at, source)
    select p.tenant_id, event.id, p.id, p.courier_id, p.status, ${status}, ${caller.userId}::uuid,
      -- not the transaction's time: it may have waited for what happened before this to be recorded
      statement_timestamp(), statement_timestamp(), 'manifest'
    from unnest(${eventIds}::uuid[], ${ids}::uuid[]) as event (id, package_id)
    join packages p on p.id = event.package_id and ${tenantRows(db, caller, 'p')}`);
}

export async function setPackageStatus(
  { db, tx, caller }: Ctx,
  ids: string[],
  status: string,
): Promise<number> {
  return tx.execute(sql`
    update packages p set status = ${status}, updated_at = now()
    where ${tenantRows(db, caller, 'p')} and p.id = any(${ids}::uuid[])`);
}
