import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAnnouncements, type Announced } from '../../../platform/db/locks.js';
import type { Tx } from '../../../platform/db/scope.js';
import {
  insertPrealerts,
  joinElements,
  packElements,
  type NumberedPrealert,
  type Packed,
  type Stored,
} from './batch-queries.js';
import { finderOf, findExisting, viewExisting, type ExistingPrealert } from '../duplicates/existing.js';
import type { OwnerSelection } from '../duplicates/owners.js';

/** Pre-alerts to store, prepared before the transaction, because the transaction holds locks. */
export type Batch = { owner: OwnerSelection; packed: Packed; announced: Announced[] };

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

/** Stores a batch in the transaction. Returns the pre-alerts of known customers. */
export async function storeBatch(
  tx: Tx,
  { owner, packed, announced }: Batch,
  remarks: 'upload' | null,
): Promise<Stored[]> {
  await tx.query(lockAnnouncements(tx.tenantId, announced));
  return tx.query(insertPrealerts(tx, owner, packed, remarks));
}
