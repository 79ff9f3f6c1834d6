import type { components } from '../../../generated/contract.js';
import { ownRows, tenantRows } from '../../platform/db/filters.js';
import type { Customer, Manifest, Package, Prealert } from '../../platform/db/models/types.js';
import { empty, once, sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import { keyIn, orderedByKey } from '../tracking-numbers/public.js';

type Schemas = components['schemas'];

export type PackageRow = Pick<
  Package,
  | 'id'
  | 'trackingNumber'
  | 'trackingKey'
  | 'houseNumber'
  | 'courierId'
  | 'userCode'
  | 'firstName'
  | 'lastName'
  | 'manifestId'
  | 'receivedAt'
> & {
  status: Schemas['PackageStatus'];
  courierName: string | null;
  manifestNumber: string | null;
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
  once`select p.id, p.tracking_number as "trackingNumber", p.tracking_key as "trackingKey", p.house_number as "houseNumber", p.status,
      p.courier_id as "courierId", c.name as "courierName", p.user_code as "userCode", p.first_name as "firstName",
      p.last_name as "lastName", p.manifest_id as "manifestId", m.manifest_number as "manifestNumber",
      m.status as "manifestStatus", p.received_at as "receivedAt"
    from packages p
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join manifests m on ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    where ${ownRows(ctx, 'p')} and ${condition} ${order}`;

export type PrealertRow = Pick<
  Prealert,
  'id' | 'trackingNumber' | 'trackingKey' | 'courierId' | 'userCode' | 'vendor' | 'createdAt'
> & {
  courierName: string;
  /** The names of the active customer, both null if there is none. */
  firstName: string | null;
  lastName: string | null;
  status: Schemas['PrealertStatus'];
};

const MAX_RECORDS = sql`50`;

export const prealertsByKey = (ctx: UserScope, keys: string[]): Sql<PrealertRow> =>
  once`select a.id, a.tracking_number as "trackingNumber", a.tracking_key as "trackingKey", a.courier_id as "courierId",
      c.name as "courierName", a.user_code as "userCode", u.first_name as "firstName", u.last_name as "lastName", a.vendor,
      a.status, a.created_at as "createdAt"
    from prealerts a
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.id = a.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = a.tenant_id and u.courier_id = a.courier_id
      and u.user_code = a.user_code and u.is_active
    where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)}
    order by a.id limit ${MAX_RECORDS}`;

export type ClaimRow = Pick<Prealert, 'trackingKey' | 'courierId' | 'userCode'> &
  Pick<PrealertRow, 'status' | 'courierName' | 'firstName' | 'lastName'>;

/** Selects what intake decides with: each customer that claims a number, however often. No limit, because each can be the second. */
export const claimsByKey = (ctx: UserScope, keys: string[]): Sql<ClaimRow> =>
  once`select a.tracking_key as "trackingKey", a.courier_id as "courierId", c.name as "courierName",
      a.user_code as "userCode", a.status, u.first_name as "firstName", u.last_name as "lastName"
    from (
      select distinct a.tenant_id, a.tracking_key, a.courier_id, a.user_code, a.status from prealerts a
      where ${ownRows(ctx, 'a')} and ${keyIn('a', keys)}
    ) as a
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = a.tenant_id and c.id = a.courier_id
    left join customers u on ${ownRows(ctx, 'u')} and u.tenant_id = a.tenant_id and u.courier_id = a.courier_id
      and u.user_code = a.user_code and u.is_active`;

export type ManifestRow = Pick<Manifest, 'id' | 'manifestNumber'> & { status: Schemas['ManifestStatus'] };

/** Selects manifests; for a courier only those that one of its packages is on. */
export function manifestsByNumber(ctx: UserScope, texts: string[]): Sql<ManifestRow> {
  const isAboard = sql`and exists (
      select from packages p
      where p.tenant_id = m.tenant_id and p.manifest_id = m.id and ${ownRows(ctx, 'p')})`;
  return once`select m.id, m.manifest_number as "manifestNumber", m.status
    from manifests m
    where ${tenantRows(ctx, 'm')} and m.manifest_number = any(${texts}::text[])
      ${ctx.caller.courierId === null ? empty : isAboard}
    order by m.id`;
}

export type CustomerRow = Pick<
  Customer,
  'id' | 'courierId' | 'userCode' | 'firstName' | 'lastName' | 'isActive'
> & { courierName: string };

/** Looks the codes up for each courier of the tenant, because the index of user codes begins with the courier. */
export const customersByCode = (ctx: UserScope, texts: string[]): Sql<CustomerRow> =>
  once`select c.id, c.courier_id as "courierId", r.name as "courierName", c.user_code as "userCode",
      c.first_name as "firstName", c.last_name as "lastName", c.is_active as "isActive"
    from couriers r
    join customers c on c.tenant_id = r.tenant_id and c.courier_id = r.id
    where ${tenantRows(ctx, 'r')} and ${ownRows(ctx, 'c')} and c.user_code = any(${texts}::text[])
    order by c.id limit ${MAX_RECORDS}`;
