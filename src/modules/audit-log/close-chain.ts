import { audit } from '../../platform/audit/audit.js';
import type { ChainKeys } from '../../platform/access/chain-keys.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { lockAuditChain } from '../../platform/db/locks.js';
import {
  CHAIN_CLOSED,
  headOfChain,
  linkAt,
  newestClosings,
  unchainedEntry,
  type HeadRow,
} from './chain-queries.js';
import { appendLinks, EMPTY_CHAIN_HASH } from './append-to-chain.js';
import { findClosing, hashAfterOf, type Closing, type Segment } from './closing.js';
import { verifyRange } from './verify-chain.js';
import type { Flaw } from './verify-links.js';

/** A flaw, and whether it follows a closing by the present key. */
export type ChainFlaw = Flaw & { isContinued?: boolean };

/** `current`: every link since the last closing has the present key, so there is nothing to close. */
export type CloseResult =
  | { state: 'current' }
  | { state: 'altered'; flaw: ChainFlaw }
  | { state: 'closed'; links: number; hash: string; isIntact: boolean };

const STATEMENT_TIMEOUT_MS = 15_000;

/** Returns why a chain must not be closed: its first flaw, if it verifies with neither key. Changes nothing. */
export async function findFlaw(
  ctx: SystemContext,
  present: ChainKeys,
  replaced: ChainKeys,
): Promise<ChainFlaw | undefined> {
  return (await examine(ctx, present, replaced))?.flaw;
}

/**
 * Closes a chain whose key was replaced. Verifies every link first, with the replaced key and those before it, then with the present key for
 * links that a process added before the closing. Then it appends the entry `tenant.audit_chain_closed` under the present key.
 *
 * @param acceptsAltered closes the chain although links do not verify. The entry says so, and they never verify
 * @throws when a process appends meanwhile
 */
export async function closeChain(
  ctx: SystemContext,
  present: ChainKeys,
  replaced: ChainKeys,
  acceptsAltered: boolean,
): Promise<CloseResult> {
  const examined = await examine(ctx, present, replaced);
  if (!examined) return { state: 'current' };
  const { head, older, segments, flaw } = examined;
  if (flaw && !acceptsAltered) return { state: 'altered', flaw };
  const last = Number(head.sequence);
  // After a closing, links with the replaced key prove nothing: somebody who has it may have written them.
  const { key } = flaw?.isContinued ? present : replaced;
  const known = flaw ? [...older, { to: last, key }] : segments;
  await appendClosing(ctx, present, { head, segments: known, isIntact: !flaw });
  return { state: 'closed', links: last, hash: head.hash, isIntact: !flaw };
}

type Examined = Verified & { head: HeadRow; older: Segment[] };

/** Returns undefined if every link since the last closing has the present key. */
async function examine(
  ctx: SystemContext,
  present: ChainKeys,
  replaced: ChainKeys,
): Promise<Examined | undefined> {
  const [[head], closings] = await ctx.read([headOfChain(ctx), newestClosings(ctx)]);
  if (!head) return undefined;
  const closing = findClosing(closings, present, ctx.tenantId);
  if (closing) return examineContinued(ctx, present, closing, head);
  const older = findClosing(closings, replaced, ctx.tenantId)?.segments ?? [];
  const { segments, flaw } = await verifyAll(ctx, older, [replaced, present], Number(head.sequence));
  const [first] = segments;
  if (!flaw && older.length === 0 && first?.key === present.key) return undefined;
  return { head, older, segments, flaw };
}

/** Returns undefined if the links since the closing have the present key. */
async function examineContinued(
  ctx: SystemContext,
  present: ChainKeys,
  { sequence, segments }: Closing,
  head: HeadRow,
): Promise<Examined | undefined> {
  const [[start]] = await ctx.read([linkAt(ctx, sequence - 1)]);
  const range = { after: sequence - 1, last: Number(head.sequence), hash: start?.hash ?? EMPTY_CHAIN_HASH };
  const { flaw } = await verifyRange(ctx, hashAfterOf([], present.hash), range);
  return flaw && { head, older: segments, segments: [], flaw: { ...flaw, isContinued: true } };
}

type Verified = { segments: Segment[]; flaw: ChainFlaw | undefined };

/** Each key continues where the one before it no longer fits. */
async function verifyAll(
  ctx: SystemContext,
  older: Segment[],
  keys: ChainKeys[],
  last: number,
): Promise<Verified> {
  const segments = [...older];
  let after = 0;
  let hash = EMPTY_CHAIN_HASH;
  let flaw: Flaw | undefined;
  for (const key of keys) {
    const range = await verifyRange(ctx, hashAfterOf(segments, key.hash), { after, last, hash });
    after += range.verified;
    ({ hash, flaw } = range);
    if (range.verified > 0) segments.push({ to: after, key: key.key });
  }
  return { segments, flaw };
}

async function appendClosing(
  ctx: SystemContext,
  present: ChainKeys,
  { head, segments, isIntact }: { head: HeadRow; segments: Segment[]; isIntact: boolean },
): Promise<void> {
  await ctx.write(
    async (tx) => {
      await tx.query(lockAuditChain(ctx.tenantId));
      const [now] = await tx.query(headOfChain(ctx));
      if (now?.hash !== head.hash)
        throw new Error('A process appends to the audit chain. Stop every server and worker, and repeat.');
      const after = {
        closed_sequence: Number(head.sequence),
        closed_hash: head.hash,
        intact: isIntact,
        replaced_keys: present.wrap(JSON.stringify(segments), ctx.tenantId),
      };
      tx.later(audit(tx, { action: CHAIN_CLOSED, entity: 'tenant', entityId: ctx.tenantId, after }));
      const [entry] = await tx.query(unchainedEntry(ctx, CHAIN_CLOSED));
      if (!entry) throw new Error('The entry that closes the audit chain was not written.');
      const { entryId, at, digest } = entry;
      const sequence = Number(head.sequence) + 1;
      await appendLinks(tx, [{ entryId, at, sequence, hash: present.hash(head.hash, digest) }]);
    },
    { timeoutMs: STATEMENT_TIMEOUT_MS },
  );
}
