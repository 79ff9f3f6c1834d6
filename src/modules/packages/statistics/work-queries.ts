import type { components } from '../../../../generated/contract.js';
import { allOf, fromDay, localTime, tenantRows, untilDay } from '../../../platform/db/filters.js';
import type { User } from '../../../platform/db/models/types.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

// Only staff of the whole tenant read these figures, so the tables are filtered by tenant.

/** Days of a time zone, both included. */
export type WorkPeriod = { from: string; to: string; zone: string; courierId: string | null };

export type AmountRow = {
  /** Whether the row is that of a courier, and not of a day. */
  isCourier: boolean;
  /** YYYY-MM-DD. */
  day: string | null;
  courierId: string | null;
  courierCode: string | null;
  courierName: string | null;
  shipped: number;
  shippedLb: string;
  announced: number;
  unknown: number;
  unknownLb: string;
};

const inPeriod = (time: Sql, { from, to, zone }: WorkPeriod): Sql =>
  sql`${fromDay(time, from, zone)} and ${untilDay(time, to, zone)}`;

const ofCourier = ({ courierId }: WorkPeriod, alias: string) =>
  courierId !== null && sql`${raw(alias)}.courier_id = ${courierId}::uuid`;

/**
 * The packages `p` that left with a manifest, and the entry `g` of its shipment. Not the events of the packages: one that was on hold, or in
 * transit already, leaves with the manifest without an event.
 */
const shipments = (ctx: UserScope, period: WorkPeriod): Sql => sql`
  audit_entries g join packages p on p.tenant_id = g.tenant_id and p.manifest_id = g.entity_id
  where ${allOf(
    tenantRows(ctx, 'g'),
    tenantRows(ctx, 'p'),
    sql`g.action = 'manifest.status_changed' and g.after ->> 'status' = 'shipped'`,
    inPeriod(sql`g.at`, period),
    ofCourier(period, 'p'),
  )}`;

/** Selects what was shipped, announced and received without a customer, per day and per courier. */
export function amountsOfWork(ctx: UserScope, period: WorkPeriod): Sql<AmountRow> {
  const day = (time: Sql): Sql => sql`${localTime(time, period.zone)}::date`;
  const ofKind = (kind: string, value: Sql): Sql =>
    sql`coalesce(sum(${value}) filter (where kind = ${kind}), 0)`;
  return sql`
    with work as (
      select 'shipped' as kind, ${day(sql`g.at`)} as day, p.courier_id, count(*)::int as count, sum(p.weight_lb) as weight_lb
      from ${shipments(ctx, period)}
      group by 2, 3
      union all
      select 'announced', ${day(sql`a.created_at`)}, a.courier_id, count(*)::int, 0
      from prealerts a where ${allOf(tenantRows(ctx, 'a'), inPeriod(sql`a.created_at`, period), ofCourier(period, 'a'))}
      group by 2, 3
      union all
      select 'unknown', ${day(sql`p.received_at`)}, p.courier_id, count(*)::int, sum(p.weight_lb)
      from packages p
      where ${allOf(
        tenantRows(ctx, 'p'),
        sql`p.user_code is null`,
        inPeriod(sql`p.received_at`, period),
        ofCourier(period, 'p'),
      )}
      group by 2, 3
    ), sums as (
      select grouping(day) = 1 as is_courier, day, courier_id, ${ofKind('shipped', sql`count`)}::int as shipped,
        ${ofKind('shipped', sql`weight_lb`)} as shipped_lb, ${ofKind('announced', sql`count`)}::int as announced,
        ${ofKind('unknown', sql`count`)}::int as unknown, ${ofKind('unknown', sql`weight_lb`)} as unknown_lb
      from work group by grouping sets ((day), (courier_id))
    )
    select s.is_courier as "isCourier", to_char(s.day, 'YYYY-MM-DD') as day, s.courier_id as "courierId",
      c.code as "courierCode", c.name as "courierName", s.shipped, s.shipped_lb as "shippedLb", s.announced, s.unknown,
      s.unknown_lb as "unknownLb"
    from sums s left join couriers c on ${tenantRows(ctx, 'c')} and c.id = s.courier_id
    order by s.is_courier, s.day, c.code nulls last`;
}

export type PersonRow = Pick<User, 'id' | 'username' | 'fullName'> & {
  role: components['schemas']['UserRole'];
  received: number;
  weighed: number;
  loaded: number;
  shipped: number;
};

const MAX_PEOPLE = 500;

/** Selects the users who did most. With a courier, their work on its packages. */
export function workOfPeople(ctx: UserScope, period: WorkPeriod): Sql<PersonRow> {
  const ofPackage = (condition: Sql) =>
    period.courierId !== null &&
    sql`exists (select from packages p where ${allOf(tenantRows(ctx, 'p'), condition, ofCourier(period, 'p'))})`;
  return sql`
    with work as (
      select e.actor_user_id as user_id, count(*)::int as received, count(*)::int as weighed, 0 as loaded, 0 as shipped
      from package_events e
      where ${allOf(
        tenantRows(ctx, 'e'),
        inPeriod(sql`e.recorded_at`, period),
        isReceipt,
        ofPackage(sql`p.tenant_id = e.tenant_id and p.id = e.package_id`),
      )}
      group by 1
      union all
      select g.actor_id, 0, count(*)::int, 0, 0
      from audit_entries g
      where ${allOf(
        tenantRows(ctx, 'g'),
        sql`g.action = 'package.updated' and g.actor_kind = 'user' and g.after -> 'weight_lb' is not null`,
        inPeriod(sql`g.at`, period),
        ofPackage(sql`p.tenant_id = g.tenant_id and p.id = g.entity_id`),
      )}
      group by 1
      union all
      select s.user_id, 0, 0, count(distinct s.parcel_key)::int, 0
      from scans s
      where ${allOf(
        tenantRows(ctx, 's'),
        sql`s.kind = 'load' and s.outcome = 'done'`,
        inPeriod(sql`s.arrived_at`, period),
        ofPackage(sql`p.tenant_id = s.tenant_id and p.tracking_key = s.parcel_key`),
      )}
      group by 1
      union all
      select g.actor_id, 0, 0, 0, count(*)::int
      from ${shipments(ctx, period)}
      group by 1
    ), sums as (
      select user_id, sum(received)::int as received, sum(weighed)::int as weighed, sum(loaded)::int as loaded,
        sum(shipped)::int as shipped
      from work group by user_id
    )
    select u.id, u.username, u.full_name as "fullName", u.role, s.received, s.weighed, s.loaded, s.shipped
    from sums s join users u on ${tenantRows(ctx, 'u')} and u.id = s.user_id
    order by s.received + s.weighed + s.loaded + s.shipped desc, u.username, u.id limit ${MAX_PEOPLE}::int`;
}

/** The event of a receipt. One with a weight says that another receipt has changed it. */
const isReceipt = sql`e.source = 'intake' and e.weight_lb is null`;
