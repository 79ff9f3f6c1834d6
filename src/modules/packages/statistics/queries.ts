import { allOf, localTime, ownRows, startOfDay, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { PackageStatus } from '../events/transitions.js';
import { isInWarehouse } from '../list/filters.js';

/** Days of a time zone, both included. `daysBefore` is the distance of the days to compare with. */
export type Period = { from: string; to: string; zone: string; daysBefore: number; courierId: string | null };

export type GroupRow = {
  kind: 'day' | 'hour' | 'courier' | 'status';
  /** YYYY-MM-DD. */
  day: string | null;
  /** 0 to 23. */
  hour: number | null;
  courierId: string | null;
  courierCode: string | null;
  courierName: string | null;
  status: PackageStatus | null;
  count: number;
  weightLb: string;
  /** Of the days before; 0 for hours and statuses. */
  countBefore: number;
  weightLbBefore: string;
};

const scopeOf = (ctx: UserScope, { courierId }: Period): Sql =>
  // A courier only ever sees its own packages, whatever courier_id says.
  allOf(
    ownRows(ctx, 'p'),
    ctx.caller.courierId === null && courierId !== null && sql`p.courier_id = ${courierId}::uuid`,
  );

/**
 * Selects the packages that were received in the period, per day, hour of the day, courier and status, and per day and courier those of
 * the days before. Reads the packages of both once.
 */
export function groupsOfPackages(ctx: UserScope, period: Period): Sql<GroupRow> {
  const { from, to, zone, daysBefore } = period;
  return sql`
    with received as (
      select p.courier_id, p.status, p.weight_lb, ${localTime(sql`p.received_at`, zone)} as at,
        p.received_at >= ${startOfDay(from, zone, 0)} as is_now, p.received_at < ${startOfDay(to, zone, 1 - daysBefore)} as is_before
      from packages p
      where ${scopeOf(ctx, period)} and p.received_at >= ${startOfDay(from, zone, -daysBefore)} and p.received_at < ${startOfDay(to, zone, 1)}
    ), days as (
      select 'day' as kind, at::date as day, null::int as hour, null::uuid as courier_id, null as status,
        count(*)::int as count, sum(weight_lb) as weight_lb, 0 as count_before, 0::numeric as weight_before
      from received group by at::date
    ), hours as (
      select 'hour', null::date, extract(hour from at)::int, null::uuid, null, count(*)::int, sum(weight_lb), 0, 0::numeric
      from received where is_now group by 3
    ), owners as (
      select 'courier', null::date, null::int, courier_id, null, (count(*) filter (where is_now))::int,
        coalesce(sum(weight_lb) filter (where is_now), 0), (count(*) filter (where is_before))::int,
        coalesce(sum(weight_lb) filter (where is_before), 0)
      from received group by courier_id
    ), statuses as (
      select 'status', null::date, null::int, null::uuid, status, count(*)::int, sum(weight_lb), 0, 0::numeric
      from received where is_now group by status
    ), grouped as (
      select * from days union all select * from hours union all select * from owners union all select * from statuses
    )
    select g.kind, to_char(g.day, 'YYYY-MM-DD') as day, g.hour, g.courier_id as "courierId", c.code as "courierCode",
      c.name as "courierName", g.status, g.count, g.weight_lb as "weightLb", g.count_before as "countBefore",
      g.weight_before as "weightLbBefore"
    from grouped g
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = g.courier_id
    order by g.kind, g.day, g.hour, c.code nulls last, g.status`;
}

/** The first day of each age, in days since the receipt. */
export const AGES = [0, 2, 7, 14, 30, 60] as const;

export type AgeRow = { bucket: number; count: number; weightLb: string; oldestAt: Date };

/** Selects the packages in the warehouse per age. `bucket` is a position in AGES, from 1. */
export const agesOfPackages = (ctx: UserScope, period: Period): Sql<AgeRow> =>
  sql`select width_bucket(extract(epoch from now() - p.received_at) / 86400, ${[...AGES]}::numeric[]) as bucket,
      count(*)::int as count, sum(p.weight_lb) as "weightLb", min(p.received_at) as "oldestAt"
    from packages p where ${scopeOf(ctx, period)} and p.received_at <= now() and ${isInWarehouse(ctx)}
    group by 1 order by 1`;
