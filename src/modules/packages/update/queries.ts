import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { join, raw, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

/** What an update may change, as it is stored; numbers as decimal text. */
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

/** The number that decides which parcel's lock an update takes; read before there is a lock. */
export function findTrackingKey(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select p.tracking_key from packages p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

/** Reads and holds the package. Its key may still be referred to, which a queue_dispatch does. */
export function lockPackage(db: Db, caller: UserCaller, id: string): Sql {
  return sql`select ${COLUMNS} from packages p where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid
    for no key update`;
}

/** Whether a package that the caller cannot see is a courier's of the same tenant. */
export function packageHasCourier(id: string): Sql {
  return sql`select package_has_courier(${id}::uuid) as is_couriers`;
}

export function changePackage(db: Db, caller: UserCaller, id: string, changes: Partial<Editable>): Sql {
  // raw: names that this file spells
  const assignments = (Object.keys(changes) as (keyof Editable)[]).map(
    (column) => sql`${raw(column)} = ${changes[column]}::${raw(TYPES[column] ?? 'text')}`,
  );
  return sql`update packages p set ${join(assignments)}, updated_at = now()
    where ${ownRows(db, caller, 'p')} and p.id = ${id}::uuid`;
}

/** The pre-alerts that a package has answered and answers no more wait again. */
export function reopenAnnouncements(db: Db, caller: UserCaller, courierId: string, trackingKey: string): Sql {
  return sql`update prealerts a set status = 'pending', updated_at = now()
    where ${ownRows(db, caller, 'a')} and a.courier_id = ${courierId}::uuid and a.tracking_key = ${trackingKey}
      and a.status = 'received'
    returning a.id`;
}

/** The courier's own pre-alerts of a parcel for the customer that it is linked to now, which were awaiting it. */
export function receiveAwaited(
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
