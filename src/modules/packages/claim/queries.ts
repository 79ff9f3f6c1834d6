import type { UserCaller } from '../../../platform/identity/callers.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';

/** The columns that a claim may change. */
export type ClaimedColumns = {
  courier_id: string | null;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  shipper: string | null;
  description: string | null;
  prealert_id: string | null;
};

export type ClaimedRow = ClaimedColumns & { id: string };

/** Selects and locks the package of a parcel. */
export function lockParcelPackage(db: Db, caller: UserCaller, trackingKey: string): Sql {
  return sql`select p.id, p.courier_id, p.user_code, p.first_name, p.last_name, p.shipper, p.description, p.prealert_id
    from packages p where ${tenantRows(db, caller, 'p')} and p.tracking_key = ${trackingKey} for no key update`;
}

export function changeOwner(db: Db, caller: UserCaller, id: string, columns: ClaimedColumns): Sql {
  return sql`update packages p set courier_id = ${columns.courier_id}::uuid, user_code = ${columns.user_code},
      first_name = ${columns.first_name}, last_name = ${columns.last_name}, shipper = ${columns.shipper},
      description = ${columns.description}, prealert_id = ${columns.prealert_id}::uuid, updated_at = now()
    where ${tenantRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}
