import type { Secrets } from '../../platform/access/secrets.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import { headOfChain, linkAt, linksAfter, newestClosings, oldestUnchained } from './chain-queries.js';
import { findClosing, type Closing } from './closing.js';
import { EMPTY_CHAIN_HASH } from './append-to-chain.js';
import { verifyLinks, type Flaw } from './verify-links.js';

export type ChainEnd = {
  /** The sequence of the last link; 0 if the chain is empty. */
  head: number;
  /** The entry before which another key has chained the links. They are not verified here. */
  closing: Closing | undefined;
  /** The first problem of the last links, if there is one. */
  flaw: Flaw | undefined;
  /** The age of the oldest entry that waits for its link; 0 if none waits. */
  oldestUnchainedSeconds: number;
};

/**
 * Verifies the last links of a chain. It only reads, because a key that does not verify the chain must not extend it.
 *
 * @param count how many links to verify
 */
export async function verifyEndOfChain(
  ctx: RequestContext,
  secrets: Secrets,
  count: number,
): Promise<ChainEnd> {
  const [[last], [unchained], closings] = await ctx.read([
    headOfChain(ctx),
    oldestUnchained(ctx),
    newestClosings(ctx),
  ]);
  const head = Number(last?.sequence ?? 0);
  const closing = findClosing(closings, secrets.auditChain, ctx.tenantId);
  const after = Math.max(closing ? closing.sequence - 1 : 0, head - count);
  const [[start], links] = await ctx.read([linkAt(ctx, after), linksAfter(ctx, after, count)]);
  const { flaw } = verifyLinks(secrets.auditChain.hash, start?.hash ?? EMPTY_CHAIN_HASH, links, after);
  return { head, closing, flaw, oldestUnchainedSeconds: unchained?.seconds ?? 0 };
}
