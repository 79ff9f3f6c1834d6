import type { Secrets } from '../../platform/access/secrets.js';
import { BACKGROUND } from '../../platform/audit/audit.js';
import { makeContext, type RequestContext } from '../../platform/context/request-context.js';
import { forEachTenant } from '../../platform/context/each-tenant.js';
import { lockAuditChain } from '../../platform/db/locks.js';
import type { TaskDeps } from '../../platform/queue/task-context.js';
import { meaningOfError } from '../../platform/db/violations.js';
import type { Tx } from '../../platform/db/scope.js';
import {
  hasUnchained,
  deleteUnchained,
  headOfChain,
  insertLinks,
  unchainedEntries,
  withoutBitmapScans,
  withoutSequentialScans,
  type HeadRow,
  type NewLink,
  type UnchainedRow,
} from './chain-queries.js';

/** The previous hash of the first link of a chain. */
export const EMPTY_CHAIN_HASH = '';

/** Hashed synchronously: 2,000 entries take about 10 ms of the event loop. */
const BATCH_ENTRIES = 2_000;

/** The maximum number of batches that a request appends before it reads. The worker appends the rest. */
const BATCHES_OF_REQUEST = 10;

const STATEMENT_TIMEOUT_MS = 15_000;

/** Appends the unchained entries of all tenants. */
export async function appendAllToChains({
  db,
  secrets,
  stopping,
}: Pick<TaskDeps, 'db' | 'secrets' | 'stopping'>): Promise<void> {
  await forEachTenant(db, BACKGROUND, async ({ caller }) => {
    for (let appended = 1; appended > 0 && !stopping.aborted;)
      appended = await appendBatch(makeContext(db, caller, BACKGROUND), secrets);
  });
}

/**
 * Appends unchained entries, so that the log can be read with sequence numbers.
 *
 * @param ctx of a caller who sees the whole tenant
 */
export async function appendBeforeReading(ctx: RequestContext, secrets: Secrets): Promise<void> {
  const [unchained] = await ctx.read([hasUnchained(ctx)]);
  if (unchained.length === 0) return;
  for (let batch = 0; batch < BATCHES_OF_REQUEST; batch += 1) {
    if ((await appendBatch(ctx, secrets).catch(noneIfReadOnly)) < BATCH_ENTRIES) return;
  }
}

/** While the database is read-only, the log is read without the positions of the newest entries. */
function noneIfReadOnly(error: unknown): number {
  if (meaningOfError(error) === 'read_only') return 0;
  throw error;
}

/** Appends one batch and returns its number of entries. */
const appendBatch = (ctx: RequestContext, secrets: Secrets): Promise<number> =>
  ctx.write(
    async (tx) => {
      await tx.query(lockAuditChain(ctx.tenantId));
      await tx.count(withoutSequentialScans);
      await tx.count(withoutBitmapScans);
      const [head] = await tx.query(headOfChain(ctx));
      const entries = await tx.query(unchainedEntries(ctx, BATCH_ENTRIES));
      if (entries.length > 0) await appendLinks(tx, chain(secrets, head, entries));
      return entries.length;
    },
    // The request reads what was appended. Each batch is locked only briefly.
    { timeoutMs: STATEMENT_TIMEOUT_MS, keptIfRefused: true },
  );

export async function appendLinks(tx: Tx, links: NewLink[]): Promise<void> {
  await tx.count(insertLinks(tx, links));
  await tx.count(deleteUnchained(tx, links));
}

function chain(secrets: Secrets, head: HeadRow | undefined, entries: UnchainedRow[]): NewLink[] {
  let sequence = Number(head?.sequence ?? 0);
  let hash = head?.hash ?? EMPTY_CHAIN_HASH;
  return entries.map(({ entryId, at, digest }) => {
    sequence += 1;
    hash = secrets.auditChain.hash(hash, digest);
    return { sequence, entryId, at, hash };
  });
}
