import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type OrNull, type RowOf, type Sql } from '../../../platform/db/statements.js';
import { isFormerCode, presentCode, presentCodeColumn } from '../../../platform/db/user-codes.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { keyIn } from '../../tracking-numbers/public.js';
import type { OpenPrealert } from './ownership.js';
import { columns } from '../../../platform/db/columns.js';

const PREALERT = columns('Prealert', 'a', [
  'id',
  'courierId',
  'trackingNumber',
  'vendor',
  'description',
  'status',
]);
const FLAGGED = columns('Prealert', 'a', ['id', 'courierId']);
const CUSTOMER = columns('Customer', 'c', ['firstName', 'lastName']);

/**
 * Whether a pre-alert `a` names a different owner than the package `p`, which may have the code that its customer had. A package
 * without an owner never disagrees, nor does a pre-alert that staff have closed when they gave the parcel to another claimant.
 */
export const disagrees = sql`(a.closed_at is null and (a.courier_id <> p.courier_id
  or (a.user_code <> p.user_code and ${presentCode('a')} <> p.user_code and not ${isFormerCode('p', presentCode('a'))})))`;

/**
 * The most pre-alerts of a parcel that one request writes, and audits. A parcel has one per courier; earlier releases stored any number
 * of spellings of one number (decision 0106).
 */
export const MAX_SETTLED = 500;

/** Flags the pending pre-alerts that name a different owner than the package, at most 500, and gives them its key. */
export function flagDisputes(ctx: UserScope, packageId: string, keys: string[]): Sql<RowOf<typeof FLAGGED>> {
  return once`with found as (
      select a.tenant_id, a.id, p.tracking_key
      from packages p
      join prealerts a on ${ownRows(ctx, 'a')} and a.tenant_id = p.tenant_id and ${keyIn('a', keys)}
      where ${ownRows(ctx, 'p')} and p.id = ${packageId}::uuid and a.status = 'pending' and ${disagrees}
      order by a.id limit ${MAX_SETTLED}::int for update of a
    )
    update prealerts a set status = 'flagged', tracking_key = found.tracking_key, updated_at = now()
    from found where a.tenant_id = found.tenant_id and a.id = found.id
    returning ${FLAGGED}`;
}

/** A pre-alert with the names of its customer, which are null without an active customer. */
export type OpenPrealertRow = Omit<OpenPrealert, 'customer'> & OrNull<RowOf<typeof CUSTOMER>>;

const areOpen = (ctx: UserScope, keys: string[]): Sql =>
  sql`${ownRows(ctx, 'a')} and ${keyIn('a', keys)} and a.status in ('pending', 'flagged')`;

/** Locks the open pre-alerts of a parcel that `findOpenPrealerts` selects. */
export const lockOpenPrealerts = (ctx: UserScope, keys: string[]): Sql =>
  once`select a.id from prealerts a where ${areOpen(ctx, keys)} order by a.id limit ${MAX_SETTLED}::int for update`;

/**
 * Selects the open pre-alerts of a parcel with their customers, oldest first, at most 500. Send it after `lockOpenPrealerts`, as a
 * statement of its own. A statement that waits for a lock reads the locked rows again, but all others as they were before it waited.
 * So after a rename it would combine a pre-alert's new user code with the customer's old one, and find no customer.
 */
export const findOpenPrealerts = (ctx: UserScope, keys: string[]): Sql<OpenPrealertRow> =>
  once`${selectClaims(ctx)} where ${areOpen(ctx, keys)} order by a.id limit ${MAX_SETTLED}::int`;

const selectClaims = (ctx: UserScope): Sql =>
  sql`select ${PREALERT}, ${presentCodeColumn('a')}, ${CUSTOMER}
    from prealerts a
    left join customers c on ${ownRows(ctx, 'c')} and c.tenant_id = a.tenant_id
      and c.courier_id = a.courier_id and c.user_code = ${presentCode('a')} and c.is_active`;

/**
 * Selects open pre-alerts that tell all claims, for parcels with more than 500: of each courier and status the oldest of two customers,
 * and the one with the number as it was scanned.
 */
export const claimsOfAll = (ctx: UserScope, keys: string[], scannedNumber: string): Sql<OpenPrealertRow> =>
  once`${selectClaims(ctx)} where ${ownRows(ctx, 'a')} and a.id in (
      select chosen.id from (
        select oldest.id, row_number() over (partition by oldest.courier_id, oldest.status order by oldest.id) as place
        from (
          select distinct on (a.courier_id, a.status, ${presentCode('a')}) a.id, a.courier_id, a.status from (
            select distinct on (a.courier_id, a.status, a.user_code) a.tenant_id, a.id, a.courier_id, a.status, a.user_code
            from prealerts a where ${areOpen(ctx, keys)} order by a.courier_id, a.status, a.user_code, a.id
          ) as a order by a.courier_id, a.status, ${presentCode('a')}, a.id
        ) as oldest
      ) as chosen where chosen.place <= 2
      union all
      select a.id from prealerts a where ${areOpen(ctx, keys)} and a.tracking_number = ${scannedNumber})
    order by a.id`;

/**
 * Settles pre-alerts that lockOpenPrealerts has locked, and gives them the key of the package, so that they are found with
 * it later. Stored flags stay: only a review clears them, and one can be of a related number.
 *
 * @param key that of the package
 */
export const settlePrealerts = (
  ctx: UserScope,
  ids: string[],
  key: string,
  status: 'received' | 'flagged',
): Sql =>
  once`update prealerts a set status = ${status}, tracking_key = ${key}, updated_at = now()
    where ${ownRows(ctx, 'a')} and a.id = any(${ids}::uuid[]) and a.status in ('pending', 'flagged')`;

/** Deletes the stored flags of all couriers for the parcel. Only for staff: a courier must not clear its own flag. */
export const deleteParcelFlags = (ctx: UserScope, keys: string[]): Sql =>
  once`delete from prealert_flags f where ${tenantRows(ctx, 'f')} and ${keyIn('f', keys)}`;
