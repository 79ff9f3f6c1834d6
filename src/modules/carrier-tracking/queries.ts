import { ownRows, tenantRows, type FilterScope, type Reader } from '../../platform/db/filters.js';
import type { CarrierState, Prealert } from '../../platform/db/models/types.js';
import type { Scope, SystemScope, UserScope } from '../../platform/db/scope.js';
import { empty, once, raw, sql, type Sql } from '../../platform/db/statements.js';
import { CARRIER_STATUSES, type CarrierEvent } from './carrier-event.js';

/** The keys of a pre-alert. Null if an earlier release has stored it as a further one of its parcel. */
export type KeysOfPrealert = Pick<Prealert, 'announcedKey' | 'trackingKey'>;

/** Selects the courier's pre-alerts that can be meant by a number, with these keys. */
export const prealertsWithKeys = (
  ctx: SystemScope,
  courierId: string,
  keys: readonly string[],
): Sql<KeysOfPrealert> => once`
  select p.announced_key as "announcedKey", p.tracking_key as "trackingKey" from prealerts p
  where ${tenantRows(ctx, 'p')} and p.courier_id = ${courierId}::uuid
    and (p.tracking_key = any(${keys}::text[]) or p.announced_key = any(${keys}::text[]))
  limit 50`;

const ORDER = raw(`array['${CARRIER_STATUSES.join("', '")}']`);

/**
 * Whether what is sent is later than what is known. At the same time, what a parcel ends with counts. A carrier that no longer knows the number
 * takes nothing back.
 */
const isLater = sql`(excluded.status <> 'silent' or s.status = 'silent')
  and (coalesce(excluded.occurred_at, '-infinity'), array_position(${ORDER}, excluded.status))
    > (coalesce(s.occurred_at, '-infinity'), array_position(${ORDER}, s.status))`;

/**
 * A clock that is wrong by hours, or a time without its zone, may be ahead of ours: that counts as now. A time further ahead is wrong, and
 * counts as none: otherwise it would hide what happened.
 */
const occurred = (time: Date | null): Sql => sql`case
    when ${time}::timestamptz > now() + interval '1 day' then null
    else least(${time}::timestamptz, now()) end`;

/**
 * Stores what a carrier says under keys of the parcel, unless something later is known. Returns the keys under which it was stored. Sorted,
 * because two transactions that store keys in opposite orders would deadlock.
 */
export const storeEvent = (
  { tenantId }: SystemScope,
  courierId: string,
  keys: readonly string[],
  event: Omit<CarrierEvent, 'number'>,
): Sql<{ key: string }> => once`
  insert into carrier_states as s (tenant_id, courier_id, tracking_key, status, carrier, code, remark, is_action_needed, occurred_at)
  select ${tenantId}::uuid, ${courierId}::uuid, key, ${event.status}::text, ${event.carrier}::text, ${event.code}::text,
    ${event.remark}::text, ${event.isActionNeeded}::boolean,
    ${occurred(event.occurredAt)}
  from unnest(${keys}::text[]) as key order by key
  on conflict (tenant_id, courier_id, tracking_key) do update set status = excluded.status,
    carrier = coalesce(excluded.carrier, s.carrier), code = excluded.code, remark = excluded.remark,
    is_action_needed = excluded.is_action_needed, occurred_at = excluded.occurred_at, updated_at = now(),
    settled_at = null
  where ${isLater}
  returning tracking_key as key`;

/** The carrier that the courier names, or null for what the sender says. Of a parcel of which nothing was heard, only that is stored. */
export const storeCarrier = (
  { tenantId }: Scope,
  courierId: string,
  keys: readonly string[],
  carrier: string | null,
): Sql => once`
  insert into carrier_states as s (tenant_id, courier_id, tracking_key, status, corrected_carrier)
  select ${tenantId}::uuid, ${courierId}::uuid, key, 'silent', ${carrier}::text
  from unnest(${keys}::text[]) as key order by key
  on conflict (tenant_id, courier_id, tracking_key) do update set corrected_carrier = excluded.corrected_carrier, updated_at = now()`;

/**
 * Joins the latest that was heard about the parcel of a pre-alert, as `heard`. A row of a pre-alert has the tenant and the courier, by which the
 * states are filtered.
 *
 * @param alias the pre-alert's name in the statement
 */
export const joinHeard = (alias: string): Sql => {
  const p = raw(alias);
  return sql`left join lateral (
      select s.* from carrier_states s
      where s.tenant_id = ${p}.tenant_id and s.courier_id = ${p}.courier_id and s.tracking_key in (${p}.announced_key, ${p}.tracking_key)
      order by s.occurred_at desc nulls last, s.updated_at desc limit 1
    ) heard on true`;
};

const isUnsettled = sql`d.status = 'delivered_at_warehouse_door' and d.settled_at is null`;

/** Longer than a statement may take. */
const LATELY = sql`interval '10 minutes'`;

/** How long a parcel that nobody has announced may still be announced, and be missing at once. */
const UNANNOUNCED = sql`interval '2 days'`;

/** The place of a delivery in the order in which the job examines them. */
export type Place = Pick<CarrierState, 'courierId' | 'trackingKey'>;

/** The place before all deliveries. */
export const START: Place = { courierId: '00000000-0000-0000-0000-000000000000', trackingKey: '' };

const placeOf = ({ courierId, trackingKey }: Place): Sql => sql`(${courierId}::uuid, ${trackingKey}::text)`;

/** Whether a delivery `d` is after a place, and not after another one. */
export const isBetween = (after: Place, last: Place): Sql =>
  sql`(d.courier_id, d.tracking_key) > ${placeOf(after)} and (d.courier_id, d.tracking_key) <= ${placeOf(last)}`;

/**
 * Examines the next deliveries after a place that are not settled, and settles those for which nobody waits: no pending pre-alert has the key,
 * and another one has or it is long ago. Leaves out what changed lately, because a pre-alert may have become pending again since this statement
 * began: unsettle() has written the row then. Returns the place of the last one, and how many were examined; no row if there are none. The limit
 * is on what is examined, so that what cannot be settled is not looked at again by the next statement.
 */
export const settleDelivered = (
  ctx: SystemScope,
  after: Place,
  limit: number,
): Sql<Place & { examined: number }> => once`
  with examined as materialized (
    select d.tenant_id, d.courier_id, d.tracking_key from carrier_states d
    where ${tenantRows(ctx, 'd')} and ${isUnsettled} and (d.courier_id, d.tracking_key) > ${placeOf(after)}
    order by d.courier_id, d.tracking_key limit ${limit}::int
  ), found as (
    select d.tenant_id, d.courier_id, d.tracking_key from examined e
    join carrier_states d on d.tenant_id = e.tenant_id and d.courier_id = e.courier_id and d.tracking_key = e.tracking_key
    cross join lateral (
      select bool_or(p.status = 'pending') as "isPending", count(*) > 0 as "isAnnounced" from prealerts p
      where p.tenant_id = d.tenant_id and p.courier_id = d.courier_id
        and (p.tracking_key = d.tracking_key or p.announced_key = d.tracking_key)
    ) announced
    where ${isUnsettled} and d.updated_at < now() - ${LATELY} and "isPending" is not true
      and ("isAnnounced" or d.occurred_at is null or d.occurred_at < now() - ${UNANNOUNCED})
    for update of d skip locked
  ), settled as (
    update carrier_states d set settled_at = now()
    from found where d.tenant_id = found.tenant_id and d.courier_id = found.courier_id and d.tracking_key = found.tracking_key
  )
  select e.courier_id as "courierId", e.tracking_key as "trackingKey", (select count(*)::int from examined) as examined
  from examined e order by e.courier_id desc, e.tracking_key desc limit 1`;

/** A pre-alert of these parcels is pending again: what the carrier has said of them counts again. */
export const unsettle = (ctx: UserScope, keys: Sql): Sql => sql`
  update carrier_states d set settled_at = null, updated_at = now()
  where ${ownRows(ctx, 'd')} and (d.courier_id, d.tracking_key) in (${keys})`;

/**
 * Selects the ids of pending pre-alerts whose parcel the carrier has delivered so many hours ago: nobody has scanned it. Begins with what was
 * delivered and is not settled, because most pending parcels are still on their way, and most delivered ones have been scanned.
 *
 * @param afterHours an integer
 * @param onlyIf a further condition of the delivery `d`, which begins with `and`
 */
export const missingPrealerts = (
  ctx: FilterScope<Reader>,
  afterHours: Sql,
  onlyIf: Sql = empty,
): Sql<MissingRow> => sql`
  select distinct p.tenant_id, p.id, p.courier_id as "courierId", heard.occurred_at as "deliveredAt"
  from carrier_states d
  cross join lateral (
    select p.tenant_id, p.id, p.courier_id, p.tracking_key, p.announced_key from prealerts p
    where ${ownRows(ctx, 'p')} and p.tenant_id = d.tenant_id and p.courier_id = d.courier_id and p.status = 'pending'
      and (p.tracking_key = d.tracking_key or p.announced_key = d.tracking_key)
    -- Keeps the planner from beginning with all pending pre-alerts.
    offset 0
  ) p
  ${joinHeard('p')}
  where ${ownRows(ctx, 'd')} and ${isUnsettled} ${onlyIf}
    and d.occurred_at < now() - make_interval(hours => ${afterHours})
    and heard.status = 'delivered_at_warehouse_door' and heard.occurred_at < now() - make_interval(hours => ${afterHours})`;

/** A missing pre-alert, and when the carrier has delivered its parcel. */
export type MissingRow = Pick<Prealert, 'id' | 'courierId'> & { deliveredAt: Date };

/** What was heard, as the contract shows it. Null if nothing was. The colons of the time have quotes, because pgbench takes `:MI` for a variable. */
export const HEARD = sql`case when heard.tracking_key is not null then jsonb_build_object('status', heard.status,
    'carrier', coalesce(heard.corrected_carrier, heard.carrier), 'is_carrier_corrected', heard.corrected_carrier is not null,
    'occurred_at', to_char(heard.occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24":"MI":"SS'), 'code', heard.code, 'text', heard.remark,
    'is_action_needed', heard.is_action_needed) end`;
