import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import type { PackageStatus } from './transitions.js';

export type TrackedRow = { id: string; house_number: string; status: PackageStatus };

export function findTrackedPackage(db: Db, caller: UserCaller, packageId: string): Sql {
  return sql`select p.id, p.house_number, p.status from packages p
    where ${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid`;
}

export type HistoryRow = {
  id: string;
  previous_status: PackageStatus | null;
  status: PackageStatus;
  source: 'intake' | 'manifest' | 'recorded';
  occurred_at: Date;
  recorded_at: Date;
  location: string | null;
  remarks: string | null;
  recorded_by: string | null;
};

/**
 * Selects the events of a package. A courier does not see the names of staff, nor remarks made before the
 * package was assigned to it: they may concern other couriers.
 */
export function findHistory(db: Db, caller: UserCaller, packageId: string): Sql {
  const isForCourier = caller.courierId !== null;
  return sql`select e.id, e.previous_status, e.status, e.source, e.occurred_at, e.recorded_at, e.location,
      case when ${!isForCourier}::boolean or e.courier_id = p.courier_id then e.remarks end as remarks,
      case when ${!isForCourier}::boolean then u.full_name end as recorded_by
    from packages p
    join package_events e on e.tenant_id = p.tenant_id and e.package_id = p.id
    left join users u on u.tenant_id = e.tenant_id and u.id = e.actor_user_id
    where ${ownRows(db, caller, 'p')} and p.id = ${packageId}::uuid
    order by e.place`;
}
