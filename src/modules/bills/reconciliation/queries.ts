import type { UserContext } from '../../../platform/context/request-context.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { Courier } from '../../../platform/db/models/types.js';
import { empty, sql, type Sql } from '../../../platform/db/statements.js';
import { applicableTiers, bandBounds, bandOf, elementOfTier, numberedTiers } from '../../rates/public.js';

/** Dates are text, both inclusive and in UTC. */
export type Period = { courierId: string | undefined; from: string; to: string };

type Exception = DataOf<'billingReconciliation'>['exceptions'][number];
export type Reason = Exception['reasons'][number];

/** Amounts and weights are decimal text. */
export type FiguresRow = Record<`${'published' | 'draft' | 'unbilled'}_${'lb' | 'usd'}`, string> &
  Record<`${'published' | 'draft' | 'unbilled'}_packages` | Reason | 'packages' | 'exceptions', number> & {
    weight_lb: string;
    /** Whether this is the row of the totals. */
    is_total: boolean;
    courier_id: string | null;
    courier_name: string | null;
    courier_code: string | null;
  };

/**
 * One row per courier that packages currently belong to, and one row of totals. Scans the packages
 * once.
 */
export function figuresOfPackages(ctx: UserContext, period: Period): Sql<FiguresRow> {
  const sums = (condition: Sql, fee: Sql) =>
    sql`count(*) filter (where ${condition})::int, coalesce(sum(weight_lb) filter (where ${condition}), 0),
      coalesce(sum(${fee}) filter (where ${condition}), 0)`;
  return sql`with ${accounts(ctx, period)}
    select f.*, c.name as courier_name, c.code as courier_code
    from (
      select grouping(courier_id) = 1, courier_id, count(*)::int, coalesce(sum(weight_lb), 0),
        ${sums(sql`status <> 'draft'`, sql`amount_usd`)}, ${sums(sql`status = 'draft'`, sql`amount_usd`)},
        ${sums(sql`bill_id is null`, sql`fee_usd`)}, count(*) filter (where ${isException})::int,
        count(*) filter (where owner_unknown)::int, count(*) filter (where not_billed)::int,
        count(*) filter (where left_out)::int, count(*) filter (where no_tier)::int,
        count(*) filter (where weight_changed)::int, count(*) filter (where courier_changed)::int,
        count(*) filter (where fee_changed)::int, count(*) filter (where outside_period)::int
      from (${checkedPackages(ctx, period)}) as checked
      group by grouping sets ((), (courier_id))
    ) as f (is_total, courier_id, packages, weight_lb, published_packages, published_lb, published_usd, draft_packages,
      draft_lb, draft_usd, unbilled_packages, unbilled_lb, unbilled_usd, exceptions, owner_unknown, not_billed, left_out,
      no_tier, weight_changed, courier_changed, fee_changed, outside_period)
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = f.courier_id
    order by c.name, c.id`;
}

/** Counts the packages independently of the figures, to compare both. */
export function countReceived(ctx: UserContext, period: Period): Sql<{ received: number }> {
  const billedTo = sql`exists (select from bill_lines l
    where ${ownRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
      and l.courier_id = ${period.courierId}::uuid)`;
  const wanted = period.courierId
    ? sql`and (p.courier_id = ${period.courierId}::uuid or ${billedTo})`
    : empty;
  return sql`select count(*)::int as received from packages p where ${received(ctx, period)} ${wanted}`;
}

/** No row if the courier does not exist. */
export function findCourier(ctx: UserContext, { courierId }: Period): Sql<Pick<Courier, 'id'>> {
  return sql`select c.id from couriers c where ${tenantRows(ctx, 'c')} and c.id = ${courierId ?? null}::uuid`;
}

export type ExceptionRow = Pick<
  Exception,
  | 'package_id'
  | 'tracking_number'
  | 'house_number'
  | 'courier_id'
  | 'courier_name'
  | 'reasons'
  | 'bill_id'
  | 'invoice_number'
  | 'bill_status'
  | 'billed_courier_id'
> & {
  received_at: Date;
  weight_lb: string;
  /** The weight at intake; null if it was never changed. */
  received_weight_lb: string | null;
  weight_changed_at: Date | null;
  weight_changed_by: string | null;
  fee_usd: string | null;
  billed_lb: string | null;
  billed_usd: string | null;
};

export type ExceptionPage = { before: string | undefined; limit: number };

/** The page before a package, newest intake first, and one row more to detect a next page. */
export function pageOfExceptions(ctx: UserContext, period: Period, page: ExceptionPage): Sql<ExceptionRow> {
  // Names are read only for the rows of the page.
  return sql`with ${accounts(ctx, period)}
    select e.id as package_id, p.tracking_number, p.house_number, e.received_at, e.courier_id, c.name as courier_name,
      e.weight_lb, e.received_weight_lb, change.at as weight_changed_at,
      change.full_name as weight_changed_by, e.fee_usd, e.bill_id, b.invoice_number, e.status as bill_status, e.billed_courier_id, e.billed_lb,
      e.amount_usd as billed_usd,
      array_remove(array[
        case when owner_unknown then 'owner_unknown' end, case when not_billed then 'not_billed' end,
        case when left_out then 'left_out' end, case when no_tier then 'no_tier' end,
        case when weight_changed then 'weight_changed' end, case when courier_changed then 'courier_changed' end,
        case when fee_changed then 'fee_changed' end, case when outside_period then 'outside_period' end], null) as reasons
    from (
      select * from (${checkedPackages(ctx, period, page.before)}) as checked
      where ${isException} order by received_at desc, id desc limit ${page.limit}::int + 1
    ) as e
    join packages p on ${tenantRows(ctx, 'p')} and p.id = e.id
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = e.courier_id
    left join bills b on ${ownRows(ctx, 'b')} and b.id = e.bill_id
    left join lateral (${lastChangeOfWeight(ctx)}) as change on e.received_weight_lb is not null
    order by e.received_at desc, e.id desc`;
}

/** When and by whom the weight of the package `e` was last changed, from the audit log. */
const lastChangeOfWeight = (ctx: UserContext): Sql => sql`
  select a.at, u.full_name
  from audit_entries a
  left join users u on ${tenantRows(ctx, 'u')} and u.id = a.actor_id
  where ${tenantRows(ctx, 'a')} and a.entity_id = e.id and a.action = 'package.updated'
    and a.after -> 'weight_lb' is not null
  order by a.at desc, a.id desc limit 1`;

const isException = sql`(owner_unknown or not_billed or left_out or no_tier or weight_changed or courier_changed
  or fee_changed or outside_period)`;

/** Each courier's tiers, prepared for lookup, and the billed days of the period. */
const accounts = (ctx: UserContext, { from, to }: Period): Sql => sql`accounts as materialized (
  select c.id, rates.bounds, rates.fees, billed.days
  from couriers c
  cross join lateral (
    with tiers as materialized (${numberedTiers(applicableTiers(ctx, sql`c.id`))})
    select bands.bounds, (select array_agg(t.fee_usd order by t.tier_number) from tiers t) as fees
    from (${bandBounds(sql`tiers`)}) as bands) as rates
  cross join lateral (
    select range_agg(daterange(b.start_date, b.end_date, '[]')) as days from bills b
    where ${ownRows(ctx, 'b')} and b.courier_id = c.id
      and b.start_date <= ${to}::date and b.end_date >= ${from}::date) as billed
  where ${tenantRows(ctx, 'c')})`;

/** Every package received in the period with its bill line, if any, and the findings about it. */
function checkedPackages(ctx: UserContext, period: Period, before?: string): Sql {
  return sql`select r.*,
      bill_id is null and courier_id is null as owner_unknown,
      bill_id is null and courier_id is not null and not is_day_billed as not_billed,
      bill_id is null and courier_id is not null and is_day_billed as left_out,
      case when bill_id is null then courier_id is not null and fee_usd is null else tier is null end as no_tier,
      received_weight_lb is not null or bill_id is not null and billed_lb is distinct from weight_lb as weight_changed,
      bill_id is not null and billed_courier_id is distinct from courier_id as courier_changed,
      bill_id is not null and status = 'draft' and amount_usd <> coalesce(fee_usd, 0) as fee_changed,
      bill_id is not null and not day between start_date and end_date as outside_period
    from (
      select p.id, p.courier_id, p.received_at, p.weight_lb, w.received_weight_lb, (p.received_at at time zone 'UTC')::date as day,
        l.bill_id, l.courier_id as billed_courier_id, l.weight_lb as billed_lb, l.tier, l.amount_usd,
        b.status, b.start_date, b.end_date,
        ${elementOfTier(sql`a.fees`, sql`band`)} as fee_usd,
        coalesce(a.days @> (p.received_at at time zone 'UTC')::date, false) as is_day_billed
      from packages p
      left join bill_lines l on ${ownRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
      left join bills b on ${ownRows(ctx, 'b')} and b.tenant_id = l.tenant_id and b.id = l.bill_id
      left join package_weights w on ${tenantRows(ctx, 'w')} and w.tenant_id = p.tenant_id and w.package_id = p.id
      left join accounts a on a.id = p.courier_id
      cross join lateral (select ${bandOf(sql`p.weight_lb`, sql`a.bounds`)} as band) as v
      where ${received(ctx, period)} ${ofCourier(period)} ${earlierThan(ctx, before)}
    ) as r`;
}

const ofCourier = ({ courierId }: Period): Sql =>
  courierId ? sql`and (p.courier_id = ${courierId}::uuid or l.courier_id = ${courierId}::uuid)` : empty;

function earlierThan(ctx: UserContext, before: string | undefined): Sql {
  if (!before) return empty;
  return sql`and (p.received_at, p.id) < ((
    select o.received_at from packages o where ${tenantRows(ctx, 'o')} and o.id = ${before}::uuid), ${before}::uuid)`;
}

const received = (ctx: UserContext, { from, to }: Period): Sql => sql`${ownRows(ctx, 'p')}
  and p.received_at >= ${from}::date::timestamp at time zone 'UTC'
  and p.received_at < (${to}::date + 1)::timestamp at time zone 'UTC'`;
