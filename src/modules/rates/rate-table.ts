import { auditStatement } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { lockRates } from '../../platform/db/locks.js';
import { transaction, snapshot, type Db } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { Change, Ctx } from './context.js';
import * as queries from './queries.js';
import { planChange, readTable, type StoredTier, type RequestedTier } from './tier.js';
import { gapWarning } from './tiers.js';

type Action<Name> = Omit<Extract<BodyOf<'manageCourierRates'>, { action: Name }>, 'action'>;

export type RateTables = { couriers: queries.CourierRow[]; tiers: queries.TableRow[] };

/**
 * Returns the default tiers, and those of one courier or of all couriers.
 * @throws ApiError courier_not_found
 */
export async function readRates(
  db: Db,
  caller: UserCaller,
  courierId: string | undefined,
): Promise<RateTables> {
  const [couriers, tiers] = await snapshot(db, caller, [
    queries.selectCouriers(db, caller, courierId),
    queries.selectTiers(db, caller, courierId),
  ]);
  if (courierId !== undefined && !couriers?.[0]) throw new ApiError('courier_not_found');
  // The two statements select exactly these columns.
  return { couriers: couriers as queries.CourierRow[], tiers: tiers as queries.TableRow[] };
}

export type SavedTable = {
  courierId: string | null;
  tiers: StoredTier[];
  warnings: string[];
  isChanged: boolean;
};

/**
 * Replaces a table by the given tiers. Concurrent requests run one after the other, so that the result is one
 * of the given tables.
 * @throws ApiError validation_failed, courier_not_found, rate_not_found
 */
export async function saveRates(change: Change, requested: Action<'save_rates'>): Promise<SavedTable> {
  const tiers = readTable(requested.rates);
  return inLock(change, async (ctx) => {
    const courierId = requested.courier_id ? await findCourierId(ctx, requested.courier_id) : null;
    return replaceTable(ctx, 'rates.saved', courierId, tiers);
  });
}

/**
 * Replaces a courier's tiers by a copy of the default tiers.
 * @throws ApiError courier_not_found, default_rates_missing
 */
export async function copyDefaultRates(
  change: Change,
  { courier_id }: Action<'copy_default'>,
): Promise<SavedTable> {
  return inLock(change, async (ctx) => {
    const courierId = await findCourierId(ctx, courier_id);
    const defaults = await queries.findTable(ctx, null);
    if (defaults.length === 0) throw new ApiError('default_rates_missing');
    const copies = defaults.map((tier) => ({ ...tier, id: undefined }));
    return replaceTable(ctx, 'rates.copied', courierId, copies);
  });
}

/**
 * Deletes one tier of any table.
 * @throws ApiError rate_not_found
 */
export async function deleteRate(change: Change, { rate_id }: Action<'delete_rate'>): Promise<SavedTable> {
  return inLock(change, async (ctx) => {
    const table = await queries.findTableOf(ctx, rate_id);
    if (!table) throw new ApiError('rate_not_found');
    const stored = await queries.findTable(ctx, table.courierId);
    const rest = stored.filter(({ id }) => id !== rate_id);
    return replaceTable(ctx, 'rate.deleted', table.courierId, rest);
  });
}

async function inLock(change: Change, work: (ctx: Ctx) => Promise<SavedTable>): Promise<SavedTable> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    await tx.execute(lockRates(change.caller.tenantId));
    return work(ctx);
  });
}

async function findCourierId(ctx: Ctx, courierId: string): Promise<string> {
  const courier = await queries.lockCourier(ctx, courierId);
  if (!courier) throw new ApiError('courier_not_found');
  return courier.id;
}

/** Writes only the differences. An equal table is not written. */
async function replaceTable(
  ctx: Ctx,
  action: string,
  courierId: string | null,
  requested: RequestedTier[],
): Promise<SavedTable> {
  const before = await queries.findTable(ctx, courierId);
  const { updated, inserted, deletedIds } = planChange(before, requested);
  if (deletedIds.length > 0) await queries.deleteTiers(ctx, deletedIds);
  if (updated.length > 0) await queries.updateTiers(ctx, updated);
  if (inserted.length > 0) await queries.insertTiers(ctx, courierId, inserted);
  const isChanged = deletedIds.length + updated.length + inserted.length > 0;
  const tiers = isChanged ? await queries.findTable(ctx, courierId) : before;
  if (isChanged) await record(ctx, action, courierId, before, tiers);
  const warnings = (await queries.findGaps(ctx, courierId)).map(gapWarning);
  return { courierId, tiers, warnings, isChanged };
}

/**
 * Records the whole table before and after, so that one entry shows the tiers that a courier was billed by.
 */
async function record(
  { tx, caller, requestId }: Ctx,
  action: string,
  courierId: string | null,
  before: StoredTier[],
  after: StoredTier[],
): Promise<void> {
  const subject =
    courierId === null
      ? { entity: 'tenant' as const, entityId: caller.tenantId }
      : { entity: 'courier' as const, entityId: courierId };
  const fact = {
    ...subject,
    action,
    before: { rates: before.map(toColumns) },
    after: { rates: after.map(toColumns) },
  };
  await tx.execute(auditStatement(caller, requestId, [fact]));
}

const toColumns = ({ id, startLb, endLb, feeUsd }: StoredTier) => ({
  id,
  start_weight_lb: startLb,
  end_weight_lb: endLb,
  fee_usd: feeUsd,
});
