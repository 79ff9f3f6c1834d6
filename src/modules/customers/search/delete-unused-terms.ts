import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { pipeline, sql, type Db } from '../../../platform/db/transaction.js';

const TERMS_AT_ONCE = 200;
/** How often a batch is tried while customers are being written, and how long to wait between. */
const TRIES = 20;
const PAUSE_MS = 100;

/**
 * Removes from the search dictionary of a tenant what none of its customers has any more. It waits for nobody and holds
 * writers of customers up for the deletion of one batch at most; a batch that finds no quiet moment is left for the next run.
 */
export async function deleteUnusedTerms({
  db,
  caller,
  stopping,
}: {
  db: Db;
  caller: SystemCaller;
  stopping: AbortSignal;
}): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let tries = 0; !stopping.aborted;) {
    const [rows] = await pipeline(db, caller, [
      sql`select last_id, pruned from prune_terms(${after}::uuid, ${TERMS_AT_ONCE}::int)`,
    ]);
    // as: the columns that the statement selects
    const batch = rows?.[0] as { last_id: string; pruned: number | null } | undefined;
    if (!batch) return;
    if (batch.pruned === null && (tries += 1) < TRIES) {
      await sleep(PAUSE_MS, undefined, { ref: false });
      continue;
    }
    tries = 0;
    after = batch.last_id;
  }
}
