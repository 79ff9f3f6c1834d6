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

/** What the first link of a chain is made over. */
export const BEGINNING = '';

/** Hashed in one go: some 10 ms of the event loop. */
const BATCH_ENTRIES = 2_000;

/** How much a request seals before it reads; more has been left behind by workers, and is theirs. */
const BATCHES_OF_REQUEST = 10;

const STATEMENT_TIMEOUT_MS = 15_000;

/** Seals what was written in every tenant since the last time. */
export async function appendAllToChains({
  db,
  secrets,
  stopping,
}: ChainAppender & { stopping: AbortSignal }): Promise<void> {
  for (const caller of await systemCallers(db)) {
    for (let sealed = 1; sealed > 0 && !stopping.aborted;) sealed = await sealBatch({ db, secrets }, caller);
  }
}

/**
 * Seals what waits, so that it can be read with its place in the chain.
 *
 * @param caller one who sees the whole tenant
 */
export async function appendBeforeReading(sealer: ChainAppender, caller: Caller): Promise<void> {
  const [waiting] = await snapshot(sealer.db, caller, [hasUnchained(sealer.db, caller)]);
  if (waiting?.length === 0) return;
  for (let batch = 0; batch < BATCHES_OF_REQUEST; batch += 1) {
    if ((await sealBatch(sealer, caller)) < BATCH_ENTRIES) return;
  }
}

/** Answers how many it sealed. */
const sealBatch = ({ db, secrets }: ChainAppender, caller: Caller): Promise<number> =>
  bulkTransaction(db, caller, STATEMENT_TIMEOUT_MS, async (tx) => {
    await tx.query(lockAuditChain(caller.tenantId));
    // The foreign key's own plan is kept with the connection: made while the log was short, it read all of it for every
    // link, and 20,000 took more than a minute.
    await tx.execute(sql`set local enable_seqscan = off`);
    // nor are all that wait sorted, to take the first
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
  let hash = head?.hash ?? BEGINNING;
  return entries.map(({ entry_id: entryId, at, digest }) => {
    sequence += 1;
    hash = secrets.chainHash(hash, digest);
    return { sequence, entryId, at, hash };
  });
}
