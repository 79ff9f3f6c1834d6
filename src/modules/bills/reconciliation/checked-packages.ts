import { fromDay, ownRows, tenantRows, untilDay } from '../../../platform/db/filters.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { empty, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { applicableTiers, bandBounds, bandOf, elementOfTier, numberedTiers } from '../../rates/public.js';

// Parts of statements, shared by the figures and the exceptions of a reconciliation.

/** Dates are text, both inclusive and in UTC. */
export type Period = { courierId: string | undefined; from: string; to: string };

export type Reason = DataOf<'getBillingReconciliation'>['exceptions'][number]['reasons'][number];

/** The findings about a package, each a column of checkedPackages, in the order of the contract. */
export const REASONS = [
  'owner_unknown',
  'not_billed',
  'left_out',
  'no_tier',
  'weight_changed',
  'courier_changed',
  'fee_changed',
  'outside_period',
] as const satisfies Reason[];

/** The condition on a row of checkedPackages that has at least one finding. */
export const isException = raw(`(${REASONS.join(' or ')})`);

/** `accounts`: the fees and weight bands of each courier's tiers, and its billed days in the period. */
export const accounts = (ctx: UserScope, { from, to }: Period): Sql => sql`accounts as materialized (
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

/** Every package received in the period with its bill line, if any, and the findings about it. Needs `accounts`. */
export function checkedPackages(ctx: UserScope, period: Period, before?: string): Sql {
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
      from (${packagesOfPeriod(ctx, period)}) as p
      left join bill_lines l on ${ownRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
      left join bills b on ${ownRows(ctx, 'b')} and b.tenant_id = l.tenant_id and b.id = l.bill_id
      left join package_weights w on ${tenantRows(ctx, 'w')} and w.tenant_id = p.tenant_id and w.package_id = p.id
      left join accounts a on a.id = p.courier_id
      cross join lateral (select ${bandOf(sql`p.weight_lb`, sql`a.bounds`)} as band) as v
      ${earlierThan(ctx, before)}
    ) as r`;
}

function earlierThan(ctx: UserScope, before: string | undefined): Sql {
  if (!before) return empty;
  return sql`where (p.received_at, p.id) < ((
    select o.received_at from packages o where ${tenantRows(ctx, 'o')} and o.id = ${before}::uuid), ${before}::uuid)`;
}

/**
 * The packages received in the period: all of the tenant, or those that belong to the courier and those that were billed
 * to it and belong to it no more.
 */
export function packagesOfPeriod(ctx: UserScope, period: Period): Sql {
  const { courierId } = period;
  const packages = sql`select p.tenant_id, p.id, p.courier_id, p.received_at, p.weight_lb from packages p`;
  const received = receivedInPeriod(ctx, 'p', period);
  if (!courierId) return sql`${packages} where ${received}`;
  // The courier's packages are excluded once more by their index. A lookup per line took several times as long.
  return sql`${packages} where ${received} and p.courier_id = ${courierId}::uuid
    union all
    ${packages}
    join bill_lines l on l.tenant_id = p.tenant_id and l.package_id = p.id
    where ${received} and p.courier_id is distinct from ${courierId}::uuid
      and ${receivedInPeriod(ctx, 'l', period)} and l.courier_id = ${courierId}::uuid
      and not exists (
        select from packages own
        where ${receivedInPeriod(ctx, 'own', period)} and own.courier_id = ${courierId}::uuid and own.id = l.package_id)`;
}

function receivedInPeriod(ctx: UserScope, alias: string, { from, to }: Period): Sql {
  const receivedAt = sql`${raw(alias)}.received_at`;
  return sql`${ownRows(ctx, alias)} and ${fromDay(receivedAt, from)} and ${untilDay(receivedAt, to)}`;
}
