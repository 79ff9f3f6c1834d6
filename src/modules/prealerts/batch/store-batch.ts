import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BulkTx, RequestContext } from '../../../platform/context/request-context.js';
import { lockAnnouncedParcels } from '../../../platform/db/locks.js';
import {
  insertPrealerts,
  joinElements,
  packElements,
  type NumberedPrealert,
  type OwnerSelection,
  type Packed,
  type Stored,
} from './queries.js';

/** Pre-alerts to store, prepared before the transaction, because the transaction holds locks. */
export type Batch = { owner: OwnerSelection; packed: Packed; trackingKeys: string[] };

const PREALERTS_PER_TURN = 250;

/** Prepares in parts, so that the event loop is not blocked for long. */
export async function prepareBatch(owner: OwnerSelection, prealerts: NumberedPrealert[]): Promise<Batch> {
  const parts: string[] = [];
  for (let from = 0; from < prealerts.length; from += PREALERTS_PER_TURN) {
    if (from > 0) await nextTurn();
    parts.push(packElements(prealerts.slice(from, from + PREALERTS_PER_TURN)));
  }
  return {
    owner,
    packed: joinElements(parts),
    trackingKeys: prealerts.map(({ trackingKey }) => trackingKey),
  };
}

/** Stores a batch in the transaction. Returns the pre-alerts of known customers. */
export async function storeBatch(
  ctx: RequestContext,
  tx: BulkTx,
  { owner, packed, trackingKeys }: Batch,
  remarks: 'upload' | null,
): Promise<Stored[]> {
  await tx.query(lockAnnouncedParcels(ctx.tenantId, trackingKeys));
  return tx.query(insertPrealerts(ctx, owner, packed, remarks));
}
