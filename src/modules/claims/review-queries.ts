import { columns } from '../../platform/db/columns.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { Package, ParcelClaim, Prealert } from '../../platform/db/models/types.js';
import { once, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import { presentCodeColumn } from '../../platform/db/user-codes.js';
import { keyIn } from '../tracking-numbers/public.js';

/** What a claim and a pre-alert have in common. */
const CLAIMANT = ['id', 'courierId', 'trackingNumber', 'trackingKey', 'status', 'createdAt'] as const;

/** A claim or a pre-alert about which staff decide. */
export type ClaimantRow = Pick<ParcelClaim, (typeof CLAIMANT)[number]> &
  Pick<Prealert, 'vendor' | 'description'> & {
    /** The present code of the customer; null if the claimed customer is no longer active. */
    userCode: string | null;
  };

const CLAIM = columns('ParcelClaim', 'c', CLAIMANT);
const PREALERT = columns('Prealert', 'a', [...CLAIMANT, 'vendor', 'description']);

export const findClaim = (ctx: UserScope, id: string): Sql<ClaimantRow> => once`${selectClaim(ctx, id)}`;

export const lockedClaim = (ctx: UserScope, id: string): Sql<ClaimantRow> =>
  once`${selectClaim(ctx, id)} for update of c`;

const selectClaim = (ctx: UserScope, id: string): Sql<ClaimantRow> =>
  once`select ${CLAIM}, null as vendor, null as description, k.user_code as "userCode"
    from parcel_claims c
    left join customers k on ${ownRows(ctx, 'k')} and k.tenant_id = c.tenant_id and k.courier_id = c.courier_id
      and k.id = c.customer_id and k.is_active
    where ${ownRows(ctx, 'c')} and c.id = ${id}::uuid`;

export const findPrealert = (ctx: UserScope, id: string): Sql<ClaimantRow> =>
  once`${selectPrealert(ctx, id)}`;

export const lockedPrealert = (ctx: UserScope, id: string): Sql<ClaimantRow> =>
  once`${selectPrealert(ctx, id)} for update`;

const selectPrealert = (ctx: UserScope, id: string): Sql<ClaimantRow> =>
  once`select ${PREALERT}, ${presentCodeColumn('a')} from prealerts a where ${ownRows(ctx, 'a')} and a.id = ${id}::uuid`;

const PACKAGE = columns('Package', 'p', ['id', 'trackingKey', 'trackingNumber', 'receivedAt']);
export type PackageNumber = RowOf<typeof PACKAGE>;

/** Selects the packages that have one of these keys: several can have a short number. */
export const packagesOfKeys = (ctx: UserScope, keys: string[]): Sql<PackageNumber> =>
  once`select ${PACKAGE} from packages p where ${tenantRows(ctx, 'p')} and ${keyIn('p', keys)} order by p.id`;

/** The most claims and the most pre-alerts that one decision settles. A courier has one of each. */
const MAX_SETTLED = 500;

/** Selects and locks the other open claims of a parcel, oldest first. */
export const otherClaims = (
  ctx: UserScope,
  keys: string[],
  ownId: string | null,
): Sql<Pick<ParcelClaim, 'id'>> =>
  once`select c.id from parcel_claims c
    where ${ownRows(ctx, 'c')} and ${keyIn('c', keys)} and c.status = 'open' and c.id is distinct from ${ownId}::uuid
    order by c.id limit ${MAX_SETTLED}::int for update`;

export type RivalRow = Pick<Prealert, 'id' | 'courierId' | 'trackingKey' | 'status'> & { userCode: string };

/** Selects and locks the open pre-alerts of a parcel, oldest first. */
export const openPrealerts = (ctx: UserScope, keys: string[]): Sql<RivalRow> =>
  once`select a.id, a.courier_id as "courierId", a.tracking_key as "trackingKey", a.status, ${presentCodeColumn('a')}
    from prealerts a
    where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)} and a.status in ('pending', 'flagged')
    order by a.id limit ${MAX_SETTLED}::int for update`;

type Decision = Pick<ParcelClaim, 'reason' | 'packageId'> & { status: 'approved' | 'refused' };

/** Decides about claims that are still open. */
export const decideClaims = (ctx: UserScope, ids: string[], { status, reason, packageId }: Decision): Sql =>
  once`update parcel_claims c set status = ${status}, reason = ${reason}, package_id = ${packageId}::uuid,
      decided_by = ${ctx.caller.userId}::uuid, decided_at = now()
    where ${ownRows(ctx, 'c')} and c.id = any(${ids}::uuid[]) and c.status = 'open'`;

/** Pre-alerts of the parcel's owner become received, with the key of its package. */
export const receiveOwn = (
  ctx: UserScope,
  ids: string[],
  { trackingKey }: Pick<Package, 'trackingKey'>,
): Sql =>
  once`update prealerts a set status = 'received', tracking_key = ${trackingKey}, updated_at = now()
    where ${ownRows(ctx, 'a')} and a.id = any(${ids}::uuid[]) and a.status in ('pending', 'flagged')`;

/** Pre-alerts of others become pending, and later scans of the parcel do not flag them again. */
export const closePrealerts = (ctx: UserScope, ids: string[]): Sql =>
  once`update prealerts a set status = 'pending', closed_at = now(), updated_at = now()
    where ${ownRows(ctx, 'a')} and a.id = any(${ids}::uuid[]) and a.status in ('pending', 'flagged')`;
