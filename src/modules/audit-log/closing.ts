import { chainHashOf, type ChainHash, type ChainKeys } from '../../platform/access/chain-keys.js';
import type { ClosingRow } from './chain-queries.js';

/** The links up to `to` that one key has chained. */
export type Segment = { to: number; key: string };

/**
 * An entry that closes the links before it, because LOOKUP_KEY was replaced (docs/decisions/0019). It is the first link under the new key,
 * so its hash pins the hash of the link before it, and with it every older link. It contains the keys of those, encrypted.
 */
export type Closing = { sequence: number; at: Date; segments: Segment[] };

/**
 * Returns the newest closing that the holder of this key has made. A closing that anybody else wrote, or that is not at its place, is
 * ignored: then the older links do not verify.
 *
 * @param rows the newest first
 */
export function findClosing(rows: ClosingRow[], keys: ChainKeys, tenantId: string): Closing | undefined {
  for (const { sequence, hash, previous, digest, at, wrapped } of rows) {
    if (wrapped === null || keys.hash(previous, digest) !== hash) continue;
    const plain = keys.unwrap(wrapped, tenantId);
    // The segments were written by closeChain with the same key.
    if (plain !== undefined)
      return { sequence: Number(sequence), at, segments: JSON.parse(plain) as Segment[] };
  }
  return undefined;
}

/** Returns the hash of the links after a sequence, and the last sequence that it applies to. */
export type HashAfter = (sequence: number) => { hash: ChainHash; to: number };

export function hashAfterOf(segments: Segment[], present: ChainHash): HashAfter {
  const closed = segments.map(({ to, key }) => ({ to, hash: chainHashOf(key) }));
  return (sequence) => closed.find(({ to }) => to > sequence) ?? { hash: present, to: Infinity };
}
