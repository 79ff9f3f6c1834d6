import type { UserCaller } from '../../platform/identity/callers.js';
import { tenantRows } from '../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../platform/db/transaction.js';
import type { Ctx } from './context.js';
import type { StoredTier, Tier } from './tier.js';
import { bandsOf, gapsBetween, tiersOfCourier, tiersOfTable, type Gap } from './tiers.js';

export type CourierRow = {
  id: string;
  name: string;
  code: string;
  air_freight_rate: string;
};

/** Selects one courier, or all couriers of the tenant by code. */
export function selectCouriers(db: Db, caller: UserCaller, courierId: string | undefined): Sql {
  const wanted = courierId === undefined ? sql`true` : sql`c.id = ${courierId}::uuid`;
  return sql`select c.id, c.name, c.code, c.air_freight_rate::text
    from couriers c where ${tenantRows(db, caller, 'c')} and ${wanted}
    order by c.code, c.id`;
}

export type TableRow = StoredTier & { courierId: string | null };

const COLUMNS = sql`t.id, t.start_weight_lb::text as "startLb", t.end_weight_lb::text as "endLb", t.fee_usd::text as "feeUsd"`;

/** Selects the default tiers, and those of one courier or of all. */
export function selectTiers(db: Db, caller: UserCaller, courierId: string | undefined): Sql {
  const wanted =
    courierId === undefined ? sql`true` : sql`(t.courier_id is null or t.courier_id = ${courierId}::uuid)`;
  return sql`select ${COLUMNS}, t.courier_id as "courierId"
    from rate_tiers t where ${tenantRows(db, caller, 't')} and ${wanted}
    order by t.start_weight_lb, t.end_weight_lb, t.id`;
}

/** Returns a courier's own tiers, or the default ones, by weight. */
export async function findTable({ db, tx, caller }: Ctx, courierId: string | null): Promise<StoredTier[]> {
  return tx.query<StoredTier>(sql`
    select ${COLUMNS} from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.courier_id is not distinct from ${courierId}::uuid
    order by t.start_weight_lb, t.end_weight_lb, t.id`);
}

/** Returns the weights without a fee below the last applicable tier. */
export async function findGaps({ db, tx, caller }: Ctx, courierId: string | null): Promise<Gap[]> {
  const tiers = courierId === null ? tiersOfTable(db, caller, null) : tiersOfCourier(db, caller, courierId);
  return tx.query<Gap>(sql`
    with bands as (${bandsOf(tiers)})
    select trim_scale(g.above_lb)::text as "aboveLb", trim_scale(g.below_lb)::text as "belowLb", 0 as packages
    from (${gapsBetween(sql`bands`)}) as g
    where g.below_lb is not null or g.above_lb is null
    order by g.above_lb`);
}

/** Returns the table that a tier belongs to, or undefined if the tenant has no such tier. */
export async function findTableOf(
  { db, tx, caller }: Ctx,
  rateId: number,
): Promise<{ courierId: string | null } | undefined> {
  const rows = await tx.query<{ courierId: string | null }>(sql`
    select t.courier_id as "courierId" from rate_tiers t
    where ${tenantRows(db, caller, 't')} and t.id = ${rateId}::int`);
  return rows[0];
}

export async function deleteTiers({ db, tx, caller }: Ctx, ids: number[]): Promise<number> {
  return tx.execute(sql`
    delete from rate_tiers t where ${tenantRows(db, caller, 't')} and t.id = any (${ids}::int[])`);
}

export async function updateTiers({ db, tx, caller }: Ctx, tiers: StoredTier[]): Promise<number> {
  return tx.execute(sql`
    update rate_tiers t
    set start_weight_lb = wanted."startLb", end_weight_lb = wanted."endLb", fee_usd = wanted."feeUsd"
    from ${tierRecords(tiers)}
    where ${tenantRows(db, caller, 't')} and t.id = wanted.id`);
}

export async function insertTiers(
  { tx, caller }: Ctx,
  courierId: string | null,
  tiers: Tier[],
): Promise<number> {
  return tx.execute(sql`
    insert into rate_tiers (tenant_id, courier_id, start_weight_lb, end_weight_lb, fee_usd)
    select ${caller.tenantId}::uuid, ${courierId}::uuid, wanted."startLb", wanted."endLb", wanted."feeUsd"
    from ${tierRecords(tiers)} order by wanted."startLb", wanted."endLb"`);
}

const tierRecords = (tiers: Tier[]) =>
  sql`jsonb_to_recordset(${JSON.stringify(tiers)}::jsonb) as wanted
    (id int, "startLb" numeric, "endLb" numeric, "feeUsd" numeric)`;

/** Locks and returns a courier's row, or undefined if the tenant has no such courier. */
export async function lockCourier(
  { db, tx, caller }: Ctx,
  courierId: string,
): Promise<CourierRow | undefined> {
  const rows = await tx.query<CourierRow>(sql`
    select c.id, c.name, c.code, c.air_freight_rate::text from couriers c
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid
    for no key update`);
  return rows[0];
}

export async function setAirFreightRate(
  { db, tx, caller }: Ctx,
  courierId: string,
  rateUsd: string,
): Promise<number> {
  return tx.execute(sql`
    update couriers c set air_freight_rate = ${rateUsd}::numeric, updated_at = now()
    where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid`);
}
