import type { Caller } from '../../platform/identity/callers.js';
import type { Secrets } from '../../platform/access/secrets.js';
import { lockAuditChain } from '../../platform/db/locks.js';
import { systemCallers } from '../../platform/db/tenants.js';
import { bulkTransaction, snapshot, sql, type Db, type PlainTx } from '../../platform/db/transaction.js';
import {
  hasUnchained,
  deleteUnchained,
  headOfChain,
  insertLinks,
  unchainedEntries,
  type HeadRow,
  type NewLink,
  type UnchainedRow,
} from './chain-queries.js';

export type ChainAppender = { db: Db; secrets: Secrets };

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
}: ChainAppender & { stopping: AbortSignal }): Promise<void> {
  for (const caller of await systemCallers(db)) {
    for (let appended = 1; appended > 0 && !stopping.aborted;)
      appended = await appendBatch({ db, secrets }, caller);
  }
}

/**
 * Appends unchained entries, so that the log can be read with sequence numbers.
 * @param caller a caller who sees the whole tenant
 */
export async function appendBeforeReading(appender: ChainAppender, caller: Caller): Promise<void> {
  const [waiting] = await snapshot(appender.db, caller, [hasUnchained(appender.db, caller)]);
  if (waiting?.length === 0) return;
  for (let batch = 0; batch < BATCHES_OF_REQUEST; batch += 1) {
    if ((await appendBatch(appender, caller)) < BATCH_ENTRIES) return;
  }
}

/** Appends one batch and returns its number of entries. */
const appendBatch = ({ db, secrets }: ChainAppender, caller: Caller): Promise<number> =>
  bulkTransaction(db, caller, STATEMENT_TIMEOUT_MS, async (tx) => {
    await tx.query(lockAuditChain(caller.tenantId));
    // PostgreSQL caches the plan of the foreign key check per connection. A plan made while the log was short
    // scans the whole log for each link; 20,000 links took more than a minute.
    await tx.execute(sql`set local enable_seqscan = off`);
    // This also avoids sorting all unchained entries to find the first ones.
    await tx.execute(sql`set local enable_bitmapscan = off`);
    const [head] = await tx.query<HeadRow>(headOfChain(db, caller));
    const entries = await tx.query<UnchainedRow>(unchainedEntries(db, caller, BATCH_ENTRIES));
    if (entries.length > 0) await appendLinks(db, tx, chain(secrets, head, entries));
    return entries.length;
  });

async function appendLinks(db: Db, tx: PlainTx, links: NewLink[]): Promise<void> {
  await tx.execute(insertLinks(tx.caller, links));
  await tx.execute(deleteUnchained(db, tx.caller, links));
}

function chain(secrets: Secrets, head: HeadRow | undefined, entries: UnchainedRow[]): NewLink[] {
  let sequence = Number(head?.sequence ?? 0);
  let hash = head?.hash ?? EMPTY_CHAIN_HASH;
  return entries.map(({ entry_id: entryId, at, digest }) => {
    sequence += 1;
    hash = secrets.chainHash(hash, digest);
    return { sequence, entryId, at, hash };
  });
}
