import type { components } from '../../../generated/contract.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import type { ParcelClaim } from '../../platform/db/models/types.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import { documentsColumn, type DocumentRow } from './documents/queries.js';

const CLAIM = columns('ParcelClaim', 'c', [
  'id',
  'courierId',
  'userCode',
  'trackingNumber',
  'status',
  'reason',
  'packageId',
  'submittedBy',
  'createdAt',
  'decidedAt',
]);

export type ClaimStatus = components['schemas']['ParcelClaimStatus'];
export type ClaimRow = RowOf<typeof CLAIM> & { status: ClaimStatus; documents: DocumentRow[] };

/** Selects the courier for which a claim is made. */
export const courierOfClaim = (ctx: UserScope, id: string): Sql<{ id: string }> =>
  once`select o.id from couriers o where ${tenantRows(ctx, 'o')} and o.id = ${id}::uuid`;

export type NewClaim = Pick<ParcelClaim, 'id' | 'courierId' | 'userCode' | 'trackingNumber' | 'trackingKey'>;

/**
 * Inserts a claim, or replaces the customer of the courier's open claim of the number. `isNew` tells the two apart. Returns no row if the courier has no
 * active customer with the code. It reads no package.
 */
export const insertClaim = (
  ctx: UserScope,
  claim: NewClaim,
): Sql<Pick<ParcelClaim, 'id'> & { isNew: boolean }> =>
  once`insert into parcel_claims as c (tenant_id, id, courier_id, customer_id, user_code, tracking_number, tracking_key, submitted_by)
    select k.tenant_id, ${claim.id}::uuid, k.courier_id, k.id, k.user_code, ${claim.trackingNumber}, ${claim.trackingKey},
      ${ctx.caller.userId}::uuid
    from customers k
    where ${ownRows(ctx, 'k')} and k.courier_id = ${claim.courierId}::uuid and k.user_code = ${claim.userCode} and k.is_active
    on conflict (tenant_id, courier_id, tracking_key) where status = 'open'
      do update set customer_id = excluded.customer_id, user_code = excluded.user_code,
        tracking_number = excluded.tracking_number, submitted_by = excluded.submitted_by
    returning c.id, c.xmax = 0 as "isNew"`;

/** Selects the claims before `query.before`, newest first, and one more than `limit` to detect a next page. */
export function pageOfClaims(
  ctx: UserScope,
  { status, before, limit }: QueryOf<'listParcelClaims'>,
): Sql<ClaimRow> {
  const conditions = allOf(
    ownRows(ctx, 'c'),
    status && sql`c.status = ${status}`,
    before && sql`c.id < ${before}::uuid`,
  );
  return sql`select ${CLAIM}, ${documentsColumn(ctx)} from parcel_claims c where ${conditions} order by c.id desc limit ${limit}::int + 1`;
}
