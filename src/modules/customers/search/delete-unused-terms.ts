import { setTimeout as sleep } from 'node:timers/promises';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { pipeline, sql, type Db } from '../../../platform/db/transaction.js';

const TERMS_PER_BATCH = 200;
/** The number of attempts per batch while customers are being written, and the pause between them. */
const TRIES = 20;
const PAUSE_MS = 100;

/**
 * Deletes terms that no customer uses any more from a tenant's search dictionary. It never waits for locks,
 * and blocks writers of customers at most while one batch is deleted. A batch that never gets the lock is
 * left for the next run.
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
      sql`select last_id, pruned from prune_terms(${after}::uuid, ${TERMS_PER_BATCH}::int)`,
    ]);
    // The statement selects exactly these columns.
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
