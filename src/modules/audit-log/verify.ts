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
import { EMPTY_CHAIN_HASH, appendBeforeReading, type ChainAppender } from './append-to-chain.js';

type VerifyRequest = BodyOf<'verifyAuditLog'>;

export type Verification = {
  verified: number;
  /** The last sequence that is intact, with all from `after` up to it. */
  to: number;
  after: number;
  maxEntries: number;
  flaw: Flaw | undefined;
  /** Where to continue; null at the end. */
  nextAfter: number | null;
  head: { sequence: number; hash: string | null };
  unsealed: number;
  inserted: number;
};

/** Read and hashed synchronously: 2,000 links take about 10 ms of the event loop. */
const BATCH_LINKS = 2_000;

/**
 * Recomputes a range of the chain and returns the first entry that was altered. Each batch is a separate
 * transaction: existing links never change, and links appended in the meantime are after the head.
 */
export async function verifyChain(
  sealer: ChainAppender,
  caller: Caller,
  wanted: VerifyRequest,
): Promise<Verification> {
  const { db } = sealer;
  const { after, max_entries: maxEntries, known_head: known } = wanted;
  await appendBeforeReading(sealer, caller);
  const [heads, starts, kept] = await snapshot(db, caller, [
    headOfChain(db, caller),
    linkAt(db, caller, after),
    linkAt(db, caller, known?.sequence ?? 0),
  ]);
  // The statements select exactly these columns.
  const [[headRow], [start], [keptRow]] = [heads, starts, kept] as [HeadRow[], HeadRow[], HeadRow[]];
  const head = { sequence: Number(headRow?.sequence ?? 0), hash: headRow?.hash ?? null };
  const last = Math.min(head.sequence, after + maxEntries);
  const walked =
    after > 0 && !start
      ? await resumeAfterMissing(sealer, caller, Math.min(after, head.sequence + 1), after)
      : await verifyRange(sealer, caller, { after, last, hash: start?.hash ?? EMPTY_CHAIN_HASH });
  const to = after + walked.verified;
  const next = walked.flaw ? walked.resume : to;
  const nextAfter = next !== null && next < head.sequence ? next : null;
  const { strays, unsealed } = await readRest(sealer, caller, after, nextAfter);
  const flaw = firstOf(walked.flaw, known && flawOfKnown(known, keptRow, head.sequence), flawOf(strays));
  const inserted = strays.total;
  return { verified: walked.verified, after, to, maxEntries, flaw, nextAfter, head, unsealed, inserted };
}

type ChainRange = { after: number; last: number; hash: string };

/**
 * After a problem: the sequence of the link from whose stored hash the verification can continue, or null.
 */
type VerifiedRange = ChainFinding & { resume: number | null };

async function verifyRange(sealer: ChainAppender, caller: Caller, { after, last, hash }: ChainRange): Promise<VerifiedRange> {
  const { db, secrets } = sealer;
  let walked: VerifiedRange = { verified: 0, hash, flaw: undefined, resume: null };
  while (after + walked.verified < last) {
    const at = after + walked.verified;
    const count = Math.min(BATCH_LINKS, last - at);
    const [rows] = await snapshot(db, caller, [linksAfter(db, caller, at, count)]);
    // The statement selects exactly these columns.
    const links = rows as LinkRow[];
    if (links.length === 0) return { ...walked, flaw: missing(at + 1) };
    const judged = verifyLinks(secrets, walked.hash, links, at);
    const verified = walked.verified + judged.verified;
    walked = { ...judged, verified, resume: Number(links[judged.verified]?.sequence ?? 0) || null };
    if (walked.flaw) return walked;
  }
  return walked;
}

/**
 * The link to begin from is missing. The next link can be the start of a continued verification, but cannot
 * be verified itself.
 */
async function resumeAfterMissing(
  { db }: ChainAppender,
  caller: Caller,
  sequence: number,
  after: number,
): Promise<VerifiedRange> {
  const [rows] = await snapshot(db, caller, [linksAfter(db, caller, after, 1)]);
  // The statement selects exactly these columns.
  const [next] = rows as LinkRow[];
  return { verified: 0, hash: '', flaw: missing(sequence), resume: next ? Number(next.sequence) : null };
}

const missing = (sequence: number): Flaw => ({ sequence, entryId: null, problem: 'missing' });

async function readRest({ db }: ChainAppender, caller: Caller, after: number, to: number | null) {
  const [strays, unsealed] = await snapshot(db, caller, [
    strayEntries(db, caller, after, to),
    countUnchained(db, caller),
  ]);
  // The statements select exactly these columns.
  const [[stray], [count]] = [strays, unsealed] as [StrayRow[], { total: number }[]];
  return { strays: stray ?? { total: 0, first_id: null }, unsealed: count?.total ?? 0 };
}

/**
 * Compares an earlier head that the caller has stored. It differs if the chain was truncated or recreated.
 */
function flawOfKnown(
  known: NonNullable<VerifyRequest['known_head']>,
  kept: HeadRow | undefined,
  headSequence: number,
): Flaw | undefined {
  if (!kept) return missing(Math.min(known.sequence, headSequence + 1));
  if (kept.hash === known.hash) return undefined;
  return { sequence: known.sequence, entryId: null, problem: 'altered' };
}

const flawOf = ({ first_id: entryId }: StrayRow): Flaw | undefined =>
  entryId === null ? undefined : { sequence: null, entryId, problem: 'inserted' };

/** Returns the problem with the lowest sequence. Problems without a sequence come last. */
function firstOf(...flaws: (Flaw | undefined)[]): Flaw | undefined {
  const placeOf = ({ sequence }: Flaw) => sequence ?? Infinity;
  return flaws.filter((flaw) => flaw !== undefined).sort((a, b) => placeOf(a) - placeOf(b))[0];
}
