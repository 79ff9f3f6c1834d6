import type { components } from '../../../../generated/contract.js';
import { ownRows } from '../../../platform/db/filters.js';
import type { PackageEvent } from '../../../platform/db/models/types.js';
import { once, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { PackageStatus } from './transitions.js';
import { columns } from '../../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', ['id', 'houseNumber', 'status']);
const PACKAGE_EVENT = columns('PackageEvent', 'e', [
  'id',
  'previousStatus',
  'status',
  'source',
  'occurredAt',
  'recordedAt',
  'location',
]);

export type TrackedRow = RowOf<typeof PACKAGE> & { status: PackageStatus };

export function findTrackedPackage(ctx: UserScope, packageId: string): Sql<TrackedRow> {
  return once`select ${PACKAGE} from packages p
    where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid`;
}

export type HistoryRow = Pick<PackageEvent, 'id' | 'occurredAt' | 'recordedAt' | 'location' | 'remarks'> & {
  previousStatus: PackageStatus | null;
  status: PackageStatus;
  source: components['schemas']['PackageEvent']['source'];
  weightChange: components['schemas']['WeightChange'];
  /** The name of the user. */
  recordedBy: string | null;
};

/**
 * Selects the events of a package. A courier does not see the names of staff, nor remarks and weights from before the
 * package was assigned to it: they may concern other couriers.
 */
export function findHistory(ctx: UserScope, packageId: string): Sql<HistoryRow> {
  const isForCourier = ctx.caller.courierId !== null;
  return once`select ${PACKAGE_EVENT},
      case when ${!isForCourier}::boolean or e.courier_id = p.courier_id then e.remarks end as remarks,
      case when e.weight_lb is not null and (${!isForCourier}::boolean or e.courier_id = p.courier_id)
        then jsonb_build_object('previous_weight', e.previous_weight_lb, 'weight', e.weight_lb) end as "weightChange",
      case when ${!isForCourier}::boolean then u.full_name end as "recordedBy"
    from packages p
    join package_events e on e.tenant_id = p.tenant_id and e.package_id = p.id
    left join users u on u.tenant_id = e.tenant_id and u.id = e.actor_user_id
    where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid
    order by e.place`;
}
