import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { join, raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

/** The columns that an update may change, as stored. Numbers are decimal text. */
export type Editable = {
  courier_id: string | null;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  tracking_number: string;
  tracking_key: string;
  weight_lb: string;
  length_in: string | null;
  width_in: string | null;
  height_in: string | null;
  package_type: string | null;
  shipper: string | null;
  description: string | null;
  prealert_id: string | null;
  claimed_by: string | null;
};

const COLUMNS = sql`p.courier_id, p.user_code, p.first_name, p.last_name, p.tracking_number, p.tracking_key,
  p.weight_lb::text, p.length_in::text, p.width_in::text, p.height_in::text, p.package_type, p.shipper,
  p.description, p.prealert_id, p.claimed_by`;

const TYPES: Partial<Record<keyof Editable, string>> = {
  courier_id: 'uuid',
  prealert_id: 'uuid',
  claimed_by: 'uuid',
  weight_lb: 'numeric',
  length_in: 'numeric',
  width_in: 'numeric',
  height_in: 'numeric',
};

/** Selects the key of the parcel that an update must lock. The lock is not held yet. */
export function findTrackingKey(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select p.tracking_key from packages p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

/**
 * Selects and locks the package. The lock is compatible with foreign key references, which queue_dispatch
 * creates.
 */
export function lockPackage(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select ${COLUMNS} from packages p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid
    for no key update`;
}

/** Selects whether a package that the caller cannot see belongs to a courier of the same tenant. */
export function packageHasCourier(id: string): Sql {
  return sql`select package_has_courier(${id}::uuid) as is_couriers`;
}

export function changePackage(db: Db, caller: UserCaller, id: string, changes: Partial<Editable>): Sql {
  // raw() is safe: the keys of Editable and the values of TYPES are literals of this file.
  const assignments = (Object.keys(changes) as (keyof Editable)[]).map(
    (column) => sql`${raw(column)} = ${changes[column]}::${raw(TYPES[column] ?? 'text')}`,
  );
  return sql`update packages p set ${join(assignments)}, updated_at = now()
    where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

/** Sets the pre-alerts that the package no longer matches to pending. */
export function reopenPrealerts(db: Db, caller: UserCaller, courierId: string, trackingKey: string): Sql {
  return sql`update prealerts a set status = 'pending', updated_at = now()
    where ${ownRows(db, caller, 'a')} and a.courier_id = ${courierId}::uuid and a.tracking_key = ${trackingKey}
      and a.status = 'received'
    returning a.id`;
}

/** Marks the courier's pending pre-alerts of a parcel for the given customer as received. */
export function receivePendingPrealerts(
  db: Db,
  caller: UserCaller,
  { courier_id, tracking_key, user_code }: Editable,
): Sql {
  return sql`with found as (
      select a.tenant_id, a.id from prealerts a
      where ${ownRows(db, caller, 'a')} and a.courier_id = ${courier_id}::uuid and a.tracking_key = ${tracking_key}
        and a.user_code = ${user_code} and a.status = 'pending'
      order by a.id for update
    )
    update prealerts a set status = 'received', updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning a.id`;
}
