import { empty, sql, type Sql, once } from '../../../platform/db/statements.js';
import type { Caller } from '../../../platform/identity/callers.js';
import { ownRows } from '../../../platform/db/filters.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { keyIn } from '../../tracking-numbers/public.js';

/** A number that a courier announces: SQL expressions. */
export type Announced = {
  tenantId: Sql;
  courierId: Sql;
  /** The key that the pre-alert has if the courier has no package of the number. */
  key: Sql;
  /** Whether the row with this alias has one of the number's keys. */
  isOfParcel: (alias: string) => Sql;
  /** The id of its pre-alert, if that is stored. */
  id?: Sql;
};

/**
 * Joins the courier's package of an announced number as `parcel`, by any key of the number: a label can be announced after the
 * number inside it was received. A package that the courier sees is preferred, then one with the pre-alert's own key. None if several
 * others fit: which of them a short number means is not known. For a courier, those that it does not see make no difference.
 */
export const joinParcel = ({ tenantId, courierId, key, isOfParcel }: Announced): Sql =>
  sql`left join lateral (
      select fitting.tracking_key, fitting.user_code from (
        select p.tracking_key, p.user_code, count(*) over (partition by p.user_code is null) as alike from packages p
        where p.tenant_id = ${tenantId} and p.courier_id = ${courierId} and ${isOfParcel('p')}
        order by p.user_code is null, p.tracking_key <> ${key}, p.id limit 1
      ) as fitting where fitting.alike = 1 or fitting.tracking_key = ${key}
    ) as parcel on true`;

/** The key of a new pre-alert: that of the package, so that the two are found with each other later. */
export const initialKey = ({ key }: Pick<Announced, 'key'>): Sql =>
  sql`coalesce(parcel.tracking_key, ${key})`;

/**
 * The status of a new pre-alert, where `parcel` is joined. It is flagged if the courier has a flagged pre-alert of the number, or
 * a stored flag. It is received if the parcel is already in the warehouse; for a courier only if its customer is known: until then
 * the courier sees the number masked, and a guessed number must behave like any other.
 */
export function initialStatus(caller: Caller, { tenantId, courierId, isOfParcel, id }: Announced): Sql {
  const isStaff = (caller.kind === 'user' || caller.kind === 'token') && caller.courierId === null;
  const isShown = isStaff ? empty : sql`and parcel.user_code is not null`;
  return sql`case
    when exists (select from prealert_flags f where f.tenant_id = ${tenantId} and f.courier_id = ${courierId}
      and ${isOfParcel('f')})
      or exists (select from prealerts other where other.tenant_id = ${tenantId} and other.courier_id = ${courierId}
      and ${isOfParcel('other')} and other.status = 'flagged' ${id ? sql`and other.id <> ${id}` : empty}) then 'flagged'
    when parcel.tracking_key is not null ${isShown} then 'received'
    else 'pending' end`;
}

/** Stores a flag of the courier for each key, unless one is stored already. */
export function insertFlags({ tenantId }: UserScope, courierId: string, keys: string[]): Sql {
  return once`insert into prealert_flags (tenant_id, courier_id, tracking_key)
    select ${tenantId}::uuid, ${courierId}::uuid, key from unnest(${keys}::text[]) key order by key
    on conflict do nothing`;
}

/** Only for staff: a courier must not clear its own flag. */
export function deleteFlags(ctx: UserScope, courierId: string, keys: string[]): Sql {
  return once`delete from prealert_flags f
    where ${ownRows(ctx, 'f')} and f.courier_id = ${courierId}::uuid and ${keyIn('f', keys)}`;
}
