import type { components } from '../../../generated/contract.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { Prealert } from '../../platform/db/models/types.js';
import { empty, once, sql, type RowOf, type OrNull, type Sql } from '../../platform/db/statements.js';
import { presentCode, presentCodeColumn } from '../../platform/db/user-codes.js';
import type { UserScope } from '../../platform/db/scope.js';
import { keyIn, orderedByKey } from '../tracking-numbers/public.js';
import { columns } from '../../platform/db/columns.js';

const PACKAGE = columns('Package', 'p', [
  'id',
  'trackingNumber',
  'trackingKey',
  'houseNumber',
  'status',
  'courierId',
  'userCode',
  'firstName',
  'lastName',
  'manifestId',
  'weightLb',
  'receivedAt',
]);
const COURIER = columns('Courier', 'c', { courierName: 'name' });
const MANIFEST = columns('Manifest', 'm', { manifestNumber: 'manifestNumber', manifestStatus: 'status' });
const PREALERT = columns('Prealert', 'a', [
  'id',
  'trackingNumber',
  'trackingKey',
  'courierId',
  'vendor',
  'status',
  'createdAt',
]);
const OWNER = columns('Customer', 'u', ['firstName', 'lastName']);
const CLAIM = columns('Prealert', 'a', ['trackingKey', 'courierId', 'userCode', 'status']);
const NUMBERED_MANIFEST = columns('Manifest', 'm', ['id', 'manifestNumber', 'status']);
const CUSTOMER = columns('Customer', 'c', [
  'id',
  'courierId',
  'userCode',
  'firstName',
  'lastName',
  'isActive',
]);
const CUSTOMER_COURIER = columns('Courier', 'r', { courierName: 'name' });

type Schemas = components['schemas'];

export type PackageRow = RowOf<typeof PACKAGE> &
  OrNull<RowOf<typeof COURIER> & RowOf<typeof MANIFEST>> & {
    status: Schemas['PackageStatus'];
    manifestStatus: Schemas['ManifestStatus'] | null;
  };

/**
 * Selects the packages of a parcel's keys. For a courier only those with a customer: it sees the number of others masked, and
 * a guessed number must behave like any other.
 */
export function packagesByKey(ctx: UserScope, keys: string[]): Sql<PackageRow> {
  const isShown = ctx.caller.courierId === null ? empty : sql`and p.user_code is not null`;
  return selectPackages(ctx, sql`${keyIn('p', keys)} ${isShown}`, orderedByKey('p', keys));
}

export const packagesByHouseNumber = (ctx: UserScope, texts: string[]): Sql<PackageRow> =>
  selectPackages(ctx, sql`p.house_number = any(${texts}::text[])`, sql`order by p.id`);

const selectPackages = (ctx: UserScope, condition: Sql, order: Sql): Sql<PackageRow> =>
  once`select ${PACKAGE}, ${COURIER}, ${MANIFEST}
    from packages p
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    where ${ownRows(ctx, 'p')} and ${condition} ${order}`;

/** Without names if the customer is not active. */
export type PrealertRow = RowOf<typeof PREALERT> &
  RowOf<typeof COURIER> &
  OrNull<RowOf<typeof OWNER>> & { userCode: string; status: Schemas['PrealertStatus'] };

const MAX_RECORDS = sql`50`;

export const prealertsByKey = (ctx: UserScope, keys: string[]): Sql<PrealertRow> =>
  once`select ${PREALERT}, ${presentCodeColumn('a')}, ${COURIER}, ${OWNER}
    from prealerts a
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.id = a.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = a.tenant_id and u.courier_id = a.courier_id
      and u.user_code = ${presentCode('a')} and u.is_active
    where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)}
    order by a.id limit ${MAX_RECORDS}`;

export type ClaimRow = Pick<Prealert, 'trackingKey' | 'courierId' | 'userCode'> &
  Pick<PrealertRow, 'status' | 'courierName' | 'firstName' | 'lastName'>;

/**
 * Selects what intake decides with: each courier that claims a number, with two of its customers, however often. No limit, because each
 * can be the second.
 */
export const claimsByKey = (ctx: UserScope, keys: string[]): Sql<ClaimRow> =>
  once`select ${CLAIM}, ${COURIER}, ${OWNER}
    from (
      select claim.*, row_number() over (partition by claim.tracking_key, claim.courier_id, claim.status order by claim.user_code) as place
      from (
        select distinct a.tenant_id, a.tracking_key, a.courier_id, ${presentCode('a')} as user_code, a.status from (
          select distinct a.tenant_id, a.tracking_key, a.courier_id, a.user_code, a.status from prealerts a
          where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)}
        ) as a
      ) as claim
    ) as a
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.id = a.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = a.tenant_id and u.courier_id = a.courier_id
      and u.user_code = a.user_code and u.is_active
    where a.place <= 2`;

export type ManifestRow = RowOf<typeof NUMBERED_MANIFEST> & { status: Schemas['ManifestStatus'] };

/** Selects manifests; for a courier only those that one of its packages is on. */
export function manifestsByNumber(ctx: UserScope, texts: string[]): Sql<ManifestRow> {
  const isAboard = sql`and exists (
      select from packages p
      where p.tenant_id = m.tenant_id and p.manifest_id = m.id and ${ownRows(ctx, 'p')})`;
  return once`select ${NUMBERED_MANIFEST}
    from manifests m
    where ${tenantRows(ctx, 'm')} and m.manifest_number = any(${texts}::text[])
      ${ctx.caller.courierId === null ? empty : isAboard}
    order by m.id`;
}

export type CustomerRow = RowOf<typeof CUSTOMER> & { courierName: string };

/** Looks the codes up for each courier of the tenant, because the index of user codes begins with the courier. */
export const customersByCode = (ctx: UserScope, texts: string[]): Sql<CustomerRow> =>
  once`select ${CUSTOMER}, ${CUSTOMER_COURIER}
    from couriers r
    join customers c on c.tenant_id = r.tenant_id and c.courier_id = r.id
    where ${tenantRows(ctx, 'r')} and ${ownRows(ctx, 'c')} and c.user_code = any(${texts}::text[])
    order by c.id limit ${MAX_RECORDS}`;
