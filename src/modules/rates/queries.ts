import { tenantRows } from '../../platform/db/filters.js';
import type { RateTier } from '../../platform/db/models/types.js';
import { once, sql, type RowOf, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';
import type { StoredTier } from './tier.js';
import { applicableTiers, defaultTiers, gapsBetween, numberedTiers, type Gap } from './weight-bands.js';
import { columns } from '../../platform/db/columns.js';

const COURIER = columns('Courier', 'c', ['id', 'name', 'code', 'airFreightRate']);
const RATE_TIER = columns('RateTier', 't', ['id', 'courierId', 'startWeightLb', 'endWeightLb', 'feeUsd']);

export type CourierRow = RowOf<typeof COURIER>;

/** One courier, or all couriers of the tenant by code. */
export function selectCouriers(ctx: UserScope, courierId: string | undefined): Sql<CourierRow> {
  const isWanted = courierId === undefined ? sql`true` : sql`c.id = ${courierId}::uuid`;
  return once`select ${COURIER}
    from couriers c where ${tenantRows(ctx, 'c')} and ${isWanted}
    order by c.code, c.id`;
}

export type TierRow = StoredTier & Pick<RateTier, 'courierId'>;

/** The default tiers, and those of one courier or of all, by weight. */
export function selectTiers(ctx: UserScope, courierId: string | undefined): Sql<TierRow> {
  const isWanted =
    courierId === undefined ? sql`true` : sql`(t.courier_id is null or t.courier_id = ${courierId}::uuid)`;
  return once`select ${RATE_TIER}
    from rate_tiers t where ${tenantRows(ctx, 't')} and ${isWanted}
    order by t.start_weight_lb, t.end_weight_lb, t.id`;
}

/** The weights without a fee below the last tier that applies to a courier, or of the default tiers (null). */
export function selectGaps(ctx: UserScope, courierId: string | null): Sql<Gap> {
  const tiers = courierId === null ? defaultTiers(ctx) : applicableTiers(ctx, courierId);
  return sql`with tiers as (${numberedTiers(tiers)})
    select trim_scale(g.above_lb)::text as "aboveLb", trim_scale(g.below_lb)::text as "belowLb", 0 as packages
    from (${gapsBetween(sql`tiers`)}) as g
    where g.below_lb is not null or g.above_lb is null
    order by g.above_lb`;
}

/** One statement, because a table may have 500 tiers with different values. */
export function updateTiers(ctx: UserScope, tiers: StoredTier[]): Sql {
  return sql`update rate_tiers t
    set start_weight_lb = changed."startWeightLb", end_weight_lb = changed."endWeightLb", fee_usd = changed."feeUsd"
    from jsonb_to_recordset(${JSON.stringify(tiers)}::jsonb) as changed
      (id int, "startWeightLb" numeric, "endWeightLb" numeric, "feeUsd" numeric)
    where ${tenantRows(ctx, 't')} and t.id = changed.id`;
}

/** SQL, because the database's clock dates the change. */
export const setAirFreightRate = (ctx: UserScope, courierId: string, rateUsd: string): Sql =>
  sql`update couriers c set air_freight_rate = ${rateUsd}::numeric, updated_at = now()
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
