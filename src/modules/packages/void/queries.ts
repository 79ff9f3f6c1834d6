import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { ColumnsOf, Package } from '../../../platform/db/models/types.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { PackageStatus } from '../events/transitions.js';
import { EDITABLE, type Editable } from '../update/queries.js';

/** A package as the audit trail keeps it. */
export type ReceiptRow = Editable &
  ColumnsOf<Pick<Package, 'houseNumber'>> & {
    status: PackageStatus;
    /** `YYYY-MM-DD HH:MM:SS` in UTC. */
    received_at: string;
  };

/** Selects the package, and locks it against everything that would refer to it. */
export const lockedReceipt = (ctx: UserScope, id: string): Sql<ReceiptRow> =>
  once`select ${EDITABLE}, p.house_number, p.status,
      to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as received_at
    from packages p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid for update`;

/** What keeps a receipt from being voided. Null: nothing of the kind. */
export type UseRow = {
  /** The manifest that the package is on. */
  manifestNumber: string | null;
  /** The manifest that the parcel is loaded for. */
  loadedNumber: string | null;
  /** The bill that has the package, drafts included. */
  invoiceNumber: string | null;
  /** Whether the package has left the warehouse, whatever its status is now. */
  hasLeft: boolean;
  /** Whether it was received within the last 24 hours. */
  isNew: boolean;
  /** How many scans and changes of status the parcel has. */
  history: number;
  /** `YYYY-MM-DD HH:MM:SS` in UTC. */
  now: string;
};

/** Not in the statement that waits for the lock of the package: that one sees no row that was stored meanwhile. */
export const usesOfPackage = (ctx: UserScope, id: string): Sql<UseRow> =>
  once`select m.manifest_number as "manifestNumber", loaded.manifest_number as "loadedNumber",
      b.invoice_number as "invoiceNumber",
      exists (select from package_events e where ${tenantRows(ctx, 'e')} and e.package_id = p.id
        and e.status in ('shipped', 'in_transit', 'delivered')) as "hasLeft",
      p.received_at > statement_timestamp() - interval '24 hours' as "isNew",
      ((select count(*) from scans s where ${tenantRows(ctx, 's')} and s.parcel_key = p.tracking_key and s.voided_at is null)
        + (select count(*) from package_events e where ${tenantRows(ctx, 'e')} and e.package_id = p.id))::int as history,
      to_char(statement_timestamp() at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as now
    from packages p
    left join manifests m on ${tenantRows(ctx, 'm')} and m.id = p.manifest_id
    left join parcel_positions o on ${tenantRows(ctx, 'o')} and o.parcel_key = p.tracking_key
    left join manifests loaded on ${tenantRows(ctx, 'loaded')} and loaded.id = o.manifest_id
    left join bill_lines l on ${tenantRows(ctx, 'l')} and l.package_id = p.id
    left join bills b on ${tenantRows(ctx, 'b')} and b.id = l.bill_id
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;

/** The scans of a parcel count no more, and a station that sends one again learns so. */
export const voidScans = (ctx: UserScope, trackingKey: string): Sql =>
  once`update scans s set voided_at = now()
    where ${tenantRows(ctx, 's')} and s.parcel_key = ${trackingKey} and s.voided_at is null`;

export const deletePosition = (ctx: UserScope, trackingKey: string): Sql =>
  once`delete from parcel_positions o where ${tenantRows(ctx, 'o')} and o.parcel_key = ${trackingKey}`;

export const deleteLabelJobs = (ctx: UserScope, packageId: string): Sql =>
  once`delete from label_jobs j where ${tenantRows(ctx, 'j')} and j.package_id = ${packageId}::uuid`;

/** Deletes the package with its history, its first weight and its synchronisation. */
export const deletePackage = (ctx: UserScope, id: string): Sql =>
  once`delete from packages p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid`;
