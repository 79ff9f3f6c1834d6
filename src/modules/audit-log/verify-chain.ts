import type { Secrets } from '../../platform/access/secrets.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import { findClosing, hashAfterOf, type HashAfter } from './closing.js';
import {
  countUnchained,
  headOfChain,
  linkAt,
  linksAfter,
  newestClosings,
  strayEntries,
  type HeadRow,
  type StrayRow,
} from './chain-queries.js';
import { verifyLinks, type Flaw, type ChainFinding } from './verify-links.js';
import { EMPTY_CHAIN_HASH, appendBeforeReading } from './append-to-chain.js';

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
  ctx: RequestContext,
  secrets: Secrets,
  request: VerifyRequest,
): Promise<Verification> {
  const { after, max_entries: maxEntries, known_head: known } = request;
  await appendBeforeReading(ctx, secrets);
  const [[headRow], [start], [knownLink], closings] = await ctx.read([
    headOfChain(ctx),
    linkAt(ctx, after),
    linkAt(ctx, known?.sequence ?? 0),
    newestClosings(ctx),
  ]);
  const head = { sequence: Number(headRow?.sequence ?? 0), hash: headRow?.hash ?? null };
  const closing = findClosing(closings, secrets.auditChain, ctx.tenantId);
  const hashAfter = hashAfterOf(closing?.segments ?? [], secrets.auditChain.hash);
  const last = Math.min(head.sequence, after + maxEntries);
  const range =
    after > 0 && !start
      ? await resumeAfterMissing(ctx, Math.min(after, head.sequence + 1), after)
      : await verifyRange(ctx, hashAfter, { after, last, hash: start?.hash ?? EMPTY_CHAIN_HASH });
  const to = after + range.verified;
  const next = range.flaw ? range.resume : to;
  const nextAfter = next !== null && next < head.sequence ? next : null;
  const { strays, unsealed } = await readRest(ctx, after, nextAfter);
  const flaw = firstOf(range.flaw, known && flawOfKnown(known, knownLink, head.sequence), flawOf(strays));
  const inserted = strays.total;
  return { verified: range.verified, after, to, maxEntries, flaw, nextAfter, head, unsealed, inserted };
}

type ChainRange = { after: number; last: number; hash: string };

/**
 * After a problem: the sequence of the link from whose stored hash the verification can continue, or null.
 */
type VerifiedRange = ChainFinding & { resume: number | null };

/** Verifies links of which each has the key that `hashAfter` returns. */
export async function verifyRange(
  ctx: RequestContext,
  hashAfter: HashAfter,
  { after, last, hash }: ChainRange,
): Promise<VerifiedRange> {
  let range: VerifiedRange = { verified: 0, hash, flaw: undefined, resume: null };
  while (after + range.verified < last) {
    const at = after + range.verified;
    const { hash: chainHash, to } = hashAfter(at);
    const count = Math.min(BATCH_LINKS, last - at, to - at);
    const [links] = await ctx.read([linksAfter(ctx, at, count)]);
    if (links.length === 0) return { ...range, flaw: missing(at + 1) };
    const finding = verifyLinks(chainHash, range.hash, links, at);
    const verified = range.verified + finding.verified;
    range = { ...finding, verified, resume: Number(links[finding.verified]?.sequence ?? 0) || null };
    if (range.flaw) return range;
  }
  return range;
}

/**
 * The link to begin from is missing. The next link can be the start of a continued verification, but cannot
 * be verified itself.
 */
async function resumeAfterMissing(
  ctx: RequestContext,
  sequence: number,
  after: number,
): Promise<VerifiedRange> {
  const [[next]] = await ctx.read([linksAfter(ctx, after, 1)]);
  return { verified: 0, hash: '', flaw: missing(sequence), resume: next ? Number(next.sequence) : null };
}

const missing = (sequence: number): Flaw => ({ sequence, entryId: null, problem: 'missing' });

async function readRest(
  ctx: RequestContext,
  after: number,
  to: number | null,
): Promise<{ strays: StrayRow; unsealed: number }> {
  const [[strays], [unchained]] = await ctx.read([strayEntries(ctx, after, to), countUnchained(ctx)]);
  return { strays: strays ?? { total: 0, firstId: null }, unsealed: unchained?.total ?? 0 };
}

/**
 * Compares an earlier head that the caller has stored. It differs if the chain was truncated or recreated.
 */
function flawOfKnown(
  known: NonNullable<VerifyRequest['known_head']>,
  link: HeadRow | undefined,
  headSequence: number,
): Flaw | undefined {
  if (!link) return missing(Math.min(known.sequence, headSequence + 1));
  if (link.hash === known.hash) return undefined;
  return { sequence: known.sequence, entryId: null, problem: 'altered' };
}

const flawOf = ({ firstId: entryId }: StrayRow): Flaw | undefined =>
  entryId === null ? undefined : { sequence: null, entryId, problem: 'inserted' };

/** Returns the problem with the lowest sequence. Problems without a sequence come last. */
function firstOf(...flaws: (Flaw | undefined)[]): Flaw | undefined {
  const orderOf = ({ sequence }: Flaw) => sequence ?? Infinity;
  return flaws.filter((flaw) => flaw !== undefined).sort((a, b) => orderOf(a) - orderOf(b))[0];
}
