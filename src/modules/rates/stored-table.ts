import { audit } from '../../platform/audit/audit.js';
import type { Tx, UserTx } from '../../platform/db/scope.js';
import { selectGaps, updateTiers } from './queries.js';
import { orderByWeight, planChange, toStoredTier, type RequestedTier, type StoredTier } from './tier.js';
import { gapWarning } from './weight-bands.js';

export type SavedTable = {
  courierId: string | null;
  tiers: StoredTier[];
  warnings: string[];
  isChanged: boolean;
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
  change: Change,
  requested: RequestedTier[],
): Promise<SavedTable> {
  const { courierId } = change;
  const before = await findTable(tx, courierId);
  const { updated, inserted, deletedIds } = planChange(before, requested);
  const { rateTier } = tx.models;
  if (deletedIds.length > 0) await rateTier.deleteMany({ where: { id: { in: deletedIds } } });
  if (updated.length > 0) await tx.count(updateTiers(tx, updated));
  if (inserted.length > 0) {
    // By weight, as ids are given in this order.
    const data = orderByWeight(inserted).map(({ startLb, endLb, feeUsd }) => ({
      tenantId: tx.tenantId,
      courierId,
      startWeightLb: startLb,
      endWeightLb: endLb,
      feeUsd,
    }));
    await rateTier.createMany({ data });
  }
  const isChanged = deletedIds.length + updated.length + inserted.length > 0;
  const tiers = isChanged ? await findTable(tx, courierId) : before;
  if (isChanged) await auditTable(tx, change, { before, after: tiers });
  const warnings = (await tx.query(selectGaps(tx, courierId))).map(gapWarning);
  return { courierId, tiers, warnings, isChanged };
}

/** Records the whole table before and after, so that one entry shows the tiers that a courier was billed by. */
async function auditTable(
  tx: UserTx,
  { action, courierId }: Change,
  { before, after }: Record<'before' | 'after', StoredTier[]>,
): Promise<void> {
  tx.later(
    audit(tx, {
      action,
      entity: courierId === null ? 'tenant' : 'courier',
      entityId: courierId ?? tx.tenantId,
      before: { rates: before.map(toColumns) },
      after: { rates: after.map(toColumns) },
    }),
  );
}

const toColumns = ({ id, startLb, endLb, feeUsd }: StoredTier) => ({
  id,
  start_weight_lb: startLb,
  end_weight_lb: endLb,
  fee_usd: feeUsd,
});
