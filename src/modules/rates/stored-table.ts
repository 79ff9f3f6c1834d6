import { audit } from '../../platform/audit/audit.js';
import { pickColumns } from '../../platform/audit/difference.js';
import type { Tx, UserTx } from '../../platform/db/scope.js';
import { selectGaps, updateTiers } from './queries.js';
import { orderByWeight, planChange, toStoredTier, type RequestedTier, type StoredTier } from './tier.js';
import { gapWarning } from './weight-bands.js';

export type SavedTable = {
  courierId: string | null;
  tiers: StoredTier[];
  warnings: string[];
  isChanged: boolean;
  /** The number of tiers that the table had before. */
  replaced: number;
};

/** A courier's own tiers, or the default ones (null), by weight. */
export async function findTable(tx: Tx, courierId: string | null): Promise<StoredTier[]> {
  const rows = await tx.models.rateTier.findMany({
    where: { courierId },
    orderBy: [{ startWeightLb: 'asc' }, { endWeightLb: 'asc' }, { id: 'asc' }],
  });
  return rows.map(toStoredTier);
}

/** The audited action, and whose table it changes. */
type Change = { action: string; courierId: string | null };

/** Writes only the differences. An equal table is not written. */
export async function replaceTable(
  tx: UserTx,
  { action, courierId }: Change,
  requested: RequestedTier[],
): Promise<SavedTable> {
  const before = await findTable(tx, courierId);
  const { updated, inserted, deletedIds } = planChange(before, requested);
  const { rateTier } = tx.models;
  if (deletedIds.length > 0) await rateTier.deleteMany({ where: { id: { in: deletedIds } } });
  if (updated.length > 0) await tx.count(updateTiers(tx, updated));
  if (inserted.length > 0) {
    // By weight, as ids are given in this order.
    const data = orderByWeight(inserted).map((tier) => ({ ...tier, tenantId: tx.tenantId, courierId }));
    await rateTier.createMany({ data });
  }
  const isChanged = deletedIds.length + updated.length + inserted.length > 0;
  const tiers = isChanged ? await findTable(tx, courierId) : before;
  if (isChanged) {
    const entity = courierId === null ? 'tenant' : 'courier';
    // The whole table, so that one entry shows the tiers that a courier was billed by.
    const states = { before: { rates: before.map(toColumns) }, after: { rates: tiers.map(toColumns) } };
    tx.later(audit(tx, { action, entity, entityId: courierId ?? tx.tenantId, ...states }));
  }
  const warnings = (await tx.query(selectGaps(tx, courierId))).map(gapWarning);
  return { courierId, tiers, warnings, isChanged, replaced: before.length };
}

const toColumns = (tier: StoredTier) => pickColumns(tier, ['id', 'startWeightLb', 'endWeightLb', 'feeUsd']);
