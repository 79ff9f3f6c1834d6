import { allOf, fromDay, ownRows, tenantRows, untilDay } from '../../platform/db/filters.js';
import { sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import type { MonthPeriod } from '../../platform/values/time.js';
import { applicableTiers, bandOf, defaultTiers, gapsBetween, type Tier } from '../rates/public.js';
import { numberedBands, receivedInPeriod, weightBand } from './public.js';

/** The default tiers are those of no courier (null). */
export type Proposal = { courierId: string | null; tiers: Tier[]; month: MonthPeriod };

/** Weights in lb and amounts in USD, as decimal text. */
type Sums = { packages: number; weightLb: string; currentUsd: string; proposedUsd: string };
export type PricedTier = Sums & { startLb: string; endLb: string; feeUsd: string };
export type PricedGap = Omit<Sums, 'proposedUsd'> & { aboveLb: string | null; belowLb: string | null };

export type PricedRow = Sums & {
  differenceUsd: string;
  current: PricedTier[];
  proposed: PricedTier[];
  gaps: PricedGap[];
};

/**
 * Prices the packages of a month by the tiers that apply now and by proposed ones, with the bands of bills. Lists are JSON, because one
 * statement returns only one set of rows. Reads the packages once.
 */
export function priceByBoth(ctx: UserScope, proposal: Proposal): Sql<PricedRow> {
  const proposedBand = bandOf(sql`p.weight_lb`, sql`(select bounds from proposed_bands)`);
  return sql`with ${numberedBands(currentTiers(ctx, proposal), { tiers: sql`tiers`, bands: sql`bands` })},
    ${numberedBands(proposedTiers(ctx, proposal), { tiers: sql`proposed_tiers`, bands: sql`proposed_bands` })},
    groups as materialized (
      select ${weightBand(sql`p.weight_lb`)} as band, ${proposedBand} as proposed_band, count(*)::int as packages,
        sum((p.weight_lb * 1000)::int) / 1000.0 as weight_lb
      from packages p where ${packagesOf(ctx, proposal)} group by 1, 2),
    priced as materialized (
      select g.*, coalesce(t.fee_usd, 0) * g.packages as current_usd, coalesce(n.fee_usd, 0) * g.packages as proposed_usd
      from groups g
      left join tiers t on g.band = 2 * t.tier_number - 1
      left join proposed_tiers n on g.proposed_band = 2 * n.tier_number - 1)
    select ${SUMS}, (coalesce(sum(g.proposed_usd), 0) - coalesce(sum(g.current_usd), 0))::text as "differenceUsd",
      (${tiersAsJson(sql`tiers`, sql`g.band`)}) as current,
      (${tiersAsJson(sql`proposed_tiers`, sql`g.proposed_band`)}) as proposed,
      (${GAPS}) as gaps
    from priced g`;
}

const currentTiers = (ctx: UserScope, { courierId }: Proposal): Sql =>
  courierId === null ? defaultTiers(ctx) : applicableTiers(ctx, courierId);

/** A courier whose last tier is removed is billed by the default tiers. */
const proposedTiers = (ctx: UserScope, { courierId, tiers }: Proposal): Sql =>
  tiers.length === 0 && courierId !== null
    ? defaultTiers(ctx)
    : sql`select row_number() over ()::int as id, sent."startWeightLb" as start_lb, sent."endWeightLb" as end_lb,
        sent."feeUsd" as fee_usd
      from jsonb_to_recordset(${JSON.stringify(tiers)}::jsonb) as sent
        ("startWeightLb" numeric, "endWeightLb" numeric, "feeUsd" numeric)`;

/** The condition on `packages p`. The default tiers apply to the couriers without tiers of their own. */
const packagesOf = (ctx: UserScope, { courierId, month }: Proposal): Sql =>
  courierId === null
    ? allOf(
        ownRows(ctx, 'p'),
        fromDay(sql`p.received_at`, month.startDate),
        untilDay(sql`p.received_at`, month.endDate),
        sql`p.courier_id is not null and p.courier_id not in (
          select own.courier_id from rate_tiers own where ${tenantRows(ctx, 'own')} and own.courier_id is not null)`,
      )
    : receivedInPeriod(ctx, { courierId, ...month });

const SUMS = sql`coalesce(sum(g.packages), 0)::int as packages, trim_scale(coalesce(sum(g.weight_lb), 0))::text as "weightLb",
  coalesce(sum(g.current_usd), 0)::text as "currentUsd", coalesce(sum(g.proposed_usd), 0)::text as "proposedUsd"`;

/** All tiers of a table. Numbers are text, so that no JSON parser converts them to floats. */
const tiersAsJson = (tiers: Sql, band: Sql): Sql => sql`
  select coalesce(json_agg(each order by each."startLb"::numeric, each."endLb"::numeric, each.tier_number), '[]')
  from (
    select t.tier_number, trim_scale(t.start_lb)::text as "startLb", trim_scale(t.end_lb)::text as "endLb",
      t.fee_usd::text as "feeUsd", ${SUMS}
    from ${tiers} t left join priced g on ${band} = 2 * t.tier_number - 1
    group by t.tier_number, t.start_lb, t.end_lb, t.fee_usd) as each`;

const GAPS = sql`
  select coalesce(json_agg(each order by each."aboveLb"::numeric), '[]')
  from (
    select trim_scale(b.above_lb)::text as "aboveLb", trim_scale(b.below_lb)::text as "belowLb", ${SUMS}
    from (${gapsBetween(sql`proposed_tiers`)}) as b left join priced g on g.proposed_band = b.band
    group by b.above_lb, b.below_lb) as each
  where each."belowLb" is not null or each.packages > 0 or each."aboveLb" is null`;
