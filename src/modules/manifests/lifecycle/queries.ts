import { tenantRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import type { Ctx } from '../shared/context.js';
import type { ManifestFields } from './fields.js';
import type { ManifestStatus } from './status.js';

export type ManifestRow = ManifestFields & {
  id: string;
  manifest_number: string;
  status: ManifestStatus;
  /** The start of the transaction, by the database's clock. */
  now: Date;
};

/**
 * Selects a manifest and locks it until the end of the transaction. Every change of a manifest or its
 * packages takes this lock first, so that no package is added between a check and the change that relies on
 * it.
 */
export async function lockManifest({ db, tx, caller }: Ctx, id: string): Promise<ManifestRow | undefined> {
  const rows = await tx.query<ManifestRow>(sql`
    select m.id, m.manifest_number, m.status, m.awb_number, m.airline_prefix,
      to_char(m.flight_date, 'YYYY-MM-DD') as flight_date, m.flight_number, m.notes, now() as now
    from manifests m
    where ${tenantRows(db, caller, 'm')} and m.id = ${id}::uuid
    for update`);
  return rows[0];
}

/** Returns the id of the given warehouse if it exists; without an id, of the primary one. */
export async function findWarehouseId(ctx: Ctx, id: string | undefined): Promise<string | undefined> {
  const isWanted = id === undefined ? sql`w.is_primary` : sql`w.id = ${id}::uuid`;
  const rows = await ctx.tx.query<{ id: string }>(sql`
    select w.id from warehouses w where ${tenantRows(ctx.db, ctx.caller, 'w')} and ${isWanted}`);
  return rows[0]?.id;
}

export async function findAirlineName(ctx: Ctx, prefix: string): Promise<string | undefined> {
  const rows = await ctx.tx.query<{ name: string }>(sql`
    select a.name from airlines a where ${tenantRows(ctx.db, ctx.caller, 'a')} and a.prefix = ${prefix}`);
  return rows[0]?.name;
}

export type NewManifest = ManifestFields & { id: string; suffix: string; warehouse_id: string };

/** Stores a draft with today's date and returns its number, or undefined if the number is already in use. */
export async function insertManifest({ tx, caller }: Ctx, draft: NewManifest): Promise<string | undefined> {
  const rows = await tx.query<{ manifest_number: string }>(sql`
    insert into manifests (tenant_id, id, manifest_number, awb_number, airline_prefix, flight_date, flight_number,
      notes, warehouse_id)
    values (${caller.tenantId}::uuid, ${draft.id}::uuid,
      'MAN-' || to_char(now() at time zone 'UTC', 'YYYYMMDD') || '-' || ${draft.suffix}::text,
      ${draft.awb_number}, ${draft.airline_prefix}, ${draft.flight_date}::date, ${draft.flight_number},
      ${draft.notes}, ${draft.warehouse_id}::uuid)
    on conflict (tenant_id, manifest_number) do nothing
    returning manifest_number`);
  return rows[0]?.manifest_number;
}

/** Updates a manifest that still has the status it was read with. Returns the number of updated rows. */
export async function updateManifestRow(
  { db, tx, caller }: Ctx,
  before: ManifestRow,
  after: ManifestRow,
): Promise<number> {
  return tx.execute(sql`
    update manifests m
    set status = ${after.status}, awb_number = ${after.awb_number}, airline_prefix = ${after.airline_prefix},
      flight_date = ${after.flight_date}::date, flight_number = ${after.flight_number}, notes = ${after.notes},
      updated_at = now()
    where ${tenantRows(db, caller, 'm')} and m.id = ${before.id}::uuid and m.status = ${before.status}`);
}

/** Deletes a manifest without packages. Returns the number of deleted rows. */
export async function deleteEmptyManifest({ db, tx, caller }: Ctx, id: string): Promise<number> {
  return tx.execute(sql`
    delete from manifests m
    where ${tenantRows(db, caller, 'm')} and m.id = ${id}::uuid
      and not exists (
        select from packages p
        where p.tenant_id = m.tenant_id and p.manifest_id = m.id and ${tenantRows(db, caller, 'p')})`);
}
