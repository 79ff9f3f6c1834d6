import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import {
  joinBatches,
  keepUserCodes,
  lockAnnouncedParcels,
  type Announced,
} from '../../../platform/db/locks.js';
import type { Tx } from '../../../platform/db/scope.js';
import {
  insertPrealerts,
  joinElements,
  packElements,
  settleBatch,
  type NumberedPrealert,
  type Packed,
  type Stored,
} from './batch-queries.js';
import {
  finderOf,
  findExisting,
  viewExisting,
  type ExistingPrealert,
  type OwnerSelection,
} from '../duplicates/existing.js';

/** Pre-alerts to store, prepared before the transaction, because the transaction holds locks. */
export type Batch = { owner: OwnerSelection; packed: Packed; announced: Announced[] };

const PREALERTS_PER_TURN = 250;

/** Prepares in parts, so that the event loop is not blocked for long. */
export async function prepareBatch(owner: OwnerSelection, prealerts: NumberedPrealert[]): Promise<Batch> {
  const parts: string[] = [];
  for (let from = 0; from < prealerts.length; from += PREALERTS_PER_TURN) {
    await pauseWhenDue();
    parts.push(packElements(prealerts.slice(from, from + PREALERTS_PER_TURN)));
  }
  return {
    owner,
    packed: joinElements(parts),
    announced: prealerts.map(({ trackingKey, userCode }) => ({ trackingKey, userCode })),
  };
}

/** The existing pre-alerts of duplicates, by the line or row of the duplicate. */
export type ExistingByNumber = Map<number, ExistingPrealert>;

/**
 * Reads the pre-alerts because of which some are duplicates. One may be an earlier line of the same batch, if that is stored.
 *
 * @param numbers the lines or rows of the duplicates
 */
export async function readExisting(
  tx: Pick<Tx, 'query'>,
  owner: OwnerSelection,
  prealerts: NumberedPrealert[],
  numbers: number[],
): Promise<ExistingByNumber> {
  if (numbers.length === 0) return new Map();
  const wanted = new Set(numbers);
  const refused = prealerts.filter(({ number }) => wanted.has(number));
  const find = finderOf(await tx.query(findExisting(owner, refused)));
  return new Map(
    refused.flatMap((prealert): [number, ExistingPrealert][] => {
      const row = find(prealert);
      return row ? [[prealert.number, viewExisting(row, prealert)]] : [];
    }),
  );
}

/**
 * Stores a batch in the transaction. Returns the pre-alerts of known customers. The parcels are locked when the pre-alerts are written,
 * so that intake waits for a comparison of the numbers, not for thousands of inserts (decision 0112).
 */
export async function storeBatch(
  tx: Tx,
  { owner, packed, announced }: Batch,
  remarks: 'upload' | 'feed' | null,
): Promise<Stored[]> {
  const userCodes = announced.map(({ userCode }) => userCode);
  const trackingKeys = announced.map(({ trackingKey }) => trackingKey);
  tx.later(joinBatches(tx.tenantId, owner));
  await tx.query(keepUserCodes(tx.tenantId, userCodes));
  const stored = await tx.query(insertPrealerts(tx, owner, packed, remarks));
  await tx.query(lockAnnouncedParcels(tx.tenantId, trackingKeys));
  await tx.count(settleBatch(tx, packed));
  return stored;
}
