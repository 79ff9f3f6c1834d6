import type { UserCaller } from '../../platform/identity/callers.js';
import { ownRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';
import type { PrealertStatus } from './queries.js';

/** Selects the key of the parcel to lock. The lock is not held yet. */
export function findTrackingKey(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select p.tracking_key from prealerts p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

export type ReviewedRow = {
  id: string;
  courier_id: string;
  user_code: string;
  tracking_key: string;
  vendor: string | null;
  description: string | null;
  status: PrealertStatus;
};

export function lockPrealert(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select p.id, p.courier_id, p.user_code, p.tracking_key, p.vendor, p.description, p.status
    from prealerts p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid for update`;
}

/** Updates the pre-alert only if it is still flagged. */
export function clearFlag(
  db: Db,
  caller: UserCaller,
  id: string,
  status: Exclude<PrealertStatus, 'flagged'>,
): Sql {
  return sql`update prealerts p set status = ${status}, updated_at = now()
    where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid and p.status = 'flagged'`;
}

/** Stores a flag for the courier's next pre-alert of the number. */
export function insertStoredFlag(caller: UserCaller, courierId: string, trackingKey: string): Sql {
  return sql`insert into prealert_flags (tenant_id, courier_id, tracking_key)
    values (${caller.tenantId}::uuid, ${courierId}::uuid, ${trackingKey}) on conflict do nothing`;
}

/** Deletes the stored flag. Only staff may do this. */
export function deleteStoredFlag(db: Db, caller: UserCaller, courierId: string, trackingKey: string): Sql {
  return sql`delete from prealert_flags f where ${ownRows(db, caller, 'f')} and f.courier_id = ${courierId}::uuid
    and f.tracking_key = ${trackingKey}`;
}
