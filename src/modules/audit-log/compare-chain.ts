import type { Secrets } from '../../platform/access/secrets.js';
import type { LinkRow } from './chain-queries.js';

export type Problem = 'altered' | 'missing' | 'inserted' | 'reordered';

/** What is wrong, and with which sequence or entry, where there is one. */
export type Flaw = { sequence: number | null; entryId: string | null; problem: Problem };

export type ChainFinding = {
  /** How many links are as they were made. */
  verified: number;
  hash: string;
  /** What is wrong with the next; nothing where all are right. */
  flaw: Flaw | undefined;
};

/**
 * Follows a chain.
 *
 * @param previous the hash before the first
 * @param links in the order of their sequence
 * @param after the sequence before the first
 */
export function verifyLinks(
  secrets: Secrets,
  previous: string,
  links: LinkRow[],
  after: number,
): ChainFinding {
  let hash = previous;
  for (const [verified, link] of links.entries()) {
    const sequence = after + 1 + verified;
    const flaw = flawOf(secrets, hash, links, link, sequence);
    if (flaw) return { verified, hash, flaw };
    hash = link.hash;
  }
  return { verified: links.length, hash, flaw: undefined };
}

function flawOf(
  secrets: Secrets,
  previous: string,
  links: LinkRow[],
  link: LinkRow,
  sequence: number,
): Flaw | undefined {
  if (Number(link.sequence) !== sequence) return { sequence, entryId: null, problem: 'missing' };
  const { entry_id: entryId, digest } = link;
  if (digest === null) return { sequence, entryId, problem: 'missing' };
  if (secrets.chainHash(previous, digest) === link.hash) return undefined;
  return { sequence, entryId, problem: kindOf(secrets, previous, links, link, digest) };
}

/** Looks around among the links at hand for what belongs here, and where this one belongs. */
function kindOf(
  secrets: Secrets,
  previous: string,
  links: LinkRow[],
  link: LinkRow,
  digest: string,
): Problem {
  const others = links.filter((other) => other !== link);
  const here = others.map((other) => other.digest !== null && secrets.chainHash(previous, other.digest));
  // its hash is right for the entry of another
  if (here.includes(link.hash)) return 'reordered';
  // the right one stands elsewhere, and this one belongs elsewhere, or nowhere
  const isDisplaced = others.some((other, n) => other.hash === here[n]);
  if (!isDisplaced) return 'altered';
  return others.some((other) => secrets.chainHash(other.hash, digest) === link.hash)
    ? 'reordered'
    : 'inserted';
}
