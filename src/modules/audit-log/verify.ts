import type { Caller } from '../../platform/identity/callers.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { snapshot } from '../../platform/db/transaction.js';
import {
  countUnchained,
  headOfChain,
  linkAt,
  linksAfter,
  strayEntries,
  type HeadRow,
  type LinkRow,
  type StrayRow,
} from './chain-queries.js';
import { verifyLinks, type Flaw, type ChainFinding } from './compare-chain.js';
import { BEGINNING, appendBeforeReading, type ChainAppender } from './append-to-chain.js';

type Wanted = BodyOf<'verifyAuditLog'>;

export type Verification = {
  verified: number;
  /** The last sequence that is right, and all from `after` up to it. */
  to: number;
  after: number;
  maxEntries: number;
  flaw: Flaw | undefined;
  /** From where to go on; null at the end. */
  nextAfter: number | null;
  head: { sequence: number; hash: string | null };
  unsealed: number;
  inserted: number;
};

/** Read and hashed in one go: some 10 ms of the event loop. */
const BATCH_LINKS = 2_000;

/**
 * Computes a stretch of the chain anew and names the first entry that is not as it was written. Each batch is a
 * transaction of its own: what is sealed does not change, and what is sealed meanwhile lies beyond the head.
 */
export async function verifyChain(
  sealer: ChainAppender,
  caller: Caller,
  wanted: Wanted,
): Promise<Verification> {
  const { db } = sealer;
  const { after, max_entries: maxEntries, known_head: known } = wanted;
  await appendBeforeReading(sealer, caller);
  const [heads, starts, kept] = await snapshot(db, caller, [
    headOfChain(db, caller),
    linkAt(db, caller, after),
    linkAt(db, caller, known?.sequence ?? 0),
  ]);
  // as: the shapes that the statements select
  const [[headRow], [start], [keptRow]] = [heads, starts, kept] as [HeadRow[], HeadRow[], HeadRow[]];
  const head = { sequence: Number(headRow?.sequence ?? 0), hash: headRow?.hash ?? null };
  const last = Math.min(head.sequence, after + maxEntries);
  const walked =
    after > 0 && !start
      ? await missAfter(sealer, caller, Math.min(after, head.sequence + 1), after)
      : await walk(sealer, caller, { after, last, hash: start?.hash ?? BEGINNING });
  const to = after + walked.verified;
  const next = walked.flaw ? walked.resume : to;
  const nextAfter = next !== null && next < head.sequence ? next : null;
  const { strays, unsealed } = await readRest(sealer, caller, after, nextAfter);
  const flaw = firstOf(walked.flaw, known && flawOfKnown(known, keptRow, head.sequence), flawOf(strays));
  const inserted = strays.total;
  return { verified: walked.verified, after, to, maxEntries, flaw, nextAfter, head, unsealed, inserted };
}

type Stretch = { after: number; last: number; hash: string };

/** Of a flaw, the sequence of the link from whose stored hash the chain can be followed again, if there is one. */
type Walked = ChainFinding & { resume: number | null };

async function walk(sealer: ChainAppender, caller: Caller, { after, last, hash }: Stretch): Promise<Walked> {
  const { db, secrets } = sealer;
  let walked: Walked = { verified: 0, hash, flaw: undefined, resume: null };
  while (after + walked.verified < last) {
    const at = after + walked.verified;
    const count = Math.min(BATCH_LINKS, last - at);
    const [rows] = await snapshot(db, caller, [linksAfter(db, caller, at, count)]);
    // as: the shape that the statement selects
    const links = rows as LinkRow[];
    if (links.length === 0) return { ...walked, flaw: missing(at + 1) };
    const judged = verifyLinks(secrets, walked.hash, links, at);
    const verified = walked.verified + judged.verified;
    walked = { ...judged, verified, resume: Number(links[judged.verified]?.sequence ?? 0) || null };
    if (walked.flaw) return walked;
  }
  return walked;
}

/** The link to begin from is gone: the next that there is can be followed, but not judged. */
async function missAfter(
  { db }: ChainAppender,
  caller: Caller,
  sequence: number,
  after: number,
): Promise<Walked> {
  const [rows] = await snapshot(db, caller, [linksAfter(db, caller, after, 1)]);
  // as: the shape that the statement selects
  const [next] = rows as LinkRow[];
  return { verified: 0, hash: '', flaw: missing(sequence), resume: next ? Number(next.sequence) : null };
}

const missing = (sequence: number): Flaw => ({ sequence, entryId: null, problem: 'missing' });

async function readRest({ db }: ChainAppender, caller: Caller, after: number, to: number | null) {
  const [strays, unsealed] = await snapshot(db, caller, [
    strayEntries(db, caller, after, to),
    countUnchained(db, caller),
  ]);
  // as: the shapes that the statements select
  const [[stray], [count]] = [strays, unsealed] as [StrayRow[], { total: number }[]];
  return { strays: stray ?? { total: 0, first_id: null }, unsealed: count?.total ?? 0 };
}

/** What the caller kept of an earlier head shows a chain that was cut, or made anew. */
function flawOfKnown(
  known: NonNullable<Wanted['known_head']>,
  kept: HeadRow | undefined,
  headSequence: number,
): Flaw | undefined {
  if (!kept) return missing(Math.min(known.sequence, headSequence + 1));
  if (kept.hash === known.hash) return undefined;
  return { sequence: known.sequence, entryId: null, problem: 'altered' };
}

const flawOf = ({ first_id: entryId }: StrayRow): Flaw | undefined =>
  entryId === null ? undefined : { sequence: null, entryId, problem: 'inserted' };

/** By sequence; what has none comes last. */
function firstOf(...flaws: (Flaw | undefined)[]): Flaw | undefined {
  const placeOf = ({ sequence }: Flaw) => sequence ?? Infinity;
  return flaws.filter((flaw) => flaw !== undefined).sort((a, b) => placeOf(a) - placeOf(b))[0];
}
