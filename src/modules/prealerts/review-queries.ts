import { ownRows } from '../../platform/db/filters.js';
import { once, type RowOf, type Sql } from '../../platform/db/statements.js';
import { presentCodeColumn } from '../../platform/db/user-codes.js';
import type { UserScope } from '../../platform/db/scope.js';
import type { PrealertStatus } from './queries.js';
import { columns } from '../../platform/db/columns.js';

const PREALERT = columns('Prealert', 'p', [
  'id',
  'courierId',
  'trackingNumber',
  'trackingKey',
  'vendor',
  'description',
  'status',
  'createdAt',
]);

export type ReviewedRow = RowOf<typeof PREALERT> & { userCode: string; status: PrealertStatus };

/** Selects and locks the pre-alert. */
export function lockedForReview(ctx: UserScope, id: string): Sql<ReviewedRow> {
  return once`select ${PREALERT}, ${presentCodeColumn('p')}
    from prealerts p where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid for update`;
}

/**
 * Updates the pre-alert only if it is still flagged, and gives it the key of its package. SQL, so that the time of the change is the
 * database's.
 */
export function clearFlag(
  ctx: UserScope,
  id: string,
  status: Exclude<PrealertStatus, 'flagged'>,
  packageKey: string | null,
): Sql {
  return once`update prealerts p set status = ${status}, tracking_key = coalesce(${packageKey}, p.tracking_key),
      updated_at = now()
    where ${ownRows(ctx, 'p')} and p.id = ${id}::uuid and p.status = 'flagged'`;
}
