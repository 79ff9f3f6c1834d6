import type { ChainHash } from '../../platform/access/chain-keys.js';
import type { LinkRow } from './chain-queries.js';

type Problem = 'altered' | 'missing' | 'inserted' | 'reordered';

/** A problem and the sequence or entry it concerns, if known. */
export type Flaw = { sequence: number | null; entryId: string | null; problem: Problem };

export type ChainFinding = {
  /** The number of intact links before the first problem. */
  verified: number;
  hash: string;
  /** The problem of the next link, or undefined if all links are intact. */
  flaw: Flaw | undefined;
};

/**
 * Verifies consecutive links of a chain.
 * @param previous the hash before the first link
 * @param links ordered by sequence
 * @param after the sequence before the first link
 */
export function verifyLinks(
  chainHash: ChainHash,
  previous: string,
  links: LinkRow[],
  after: number,
): ChainFinding {
  let hash = previous;
  for (const [verified, link] of links.entries()) {
    const sequence = after + 1 + verified;
    const flaw = flawOf(chainHash, hash, links, link, sequence);
    if (flaw) return { verified, hash, flaw };
    hash = link.hash;
  }
  return { verified: links.length, hash, flaw: undefined };
}

function flawOf(
  chainHash: ChainHash,
  previous: string,
  links: LinkRow[],
  link: LinkRow,
  sequence: number,
): Flaw | undefined {
  if (Number(link.sequence) !== sequence) return { sequence, entryId: null, problem: 'missing' };
  const { entryId, digest } = link;
  if (digest === null) return { sequence, entryId, problem: 'missing' };
  if (chainHash(previous, digest) === link.hash) return undefined;
  return { sequence, entryId, problem: kindOf(chainHash, previous, links, link, digest) };
}

/** Classifies a broken link by comparing it with the other links of the batch. */
function kindOf(
  chainHash: ChainHash,
  previous: string,
  links: LinkRow[],
  link: LinkRow,
  digest: string,
): Problem {
  const others = links.filter((other) => other !== link);
  const here = others.map((other) => other.digest !== null && chainHash(previous, other.digest));
  // The hash of this link fits another link's entry.
  if (here.includes(link.hash)) return 'reordered';
  // The link that belongs here is elsewhere. This link belongs elsewhere too, or was inserted.
  const isDisplaced = others.some((other, n) => other.hash === here[n]);
  if (!isDisplaced) return 'altered';
  return others.some((other) => chainHash(other.hash, digest) === link.hash) ? 'reordered' : 'inserted';
}
