import { setTimeout as sleep } from 'node:timers/promises';
import { BACKGROUND } from '../../../platform/audit/audit.js';
import { makeContext } from '../../../platform/context/request-context.js';
import type { Db } from '../../../platform/db/database.js';
import type { SystemCaller } from '../../../platform/identity/callers.js';
import { pruneTerms } from './queries.js';

const TERMS_PER_BATCH = 200;
/** The number of attempts per batch while customers are being written, and the pause between them. */
const TRIES = 20;
const PAUSE_MS = 100;

/**
 * Deletes terms that no customer uses any more from a tenant's search dictionary. It never waits for locks,
 * and blocks writers of customers at most while one batch is deleted. A batch that never gets the lock is
 * left for the next run.
 */
export async function deleteUnusedTerms(db: Db, caller: SystemCaller, stopping: AbortSignal): Promise<void> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let tries = 0; !stopping.aborted;) {
    const ctx = makeContext(db, caller, BACKGROUND);
    const [[batch]] = await ctx.write([pruneTerms(after, TERMS_PER_BATCH)]);
    if (!batch) return;
    if (batch.pruned === null && (tries += 1) < TRIES) {
      await sleep(PAUSE_MS, undefined, { ref: false });
      continue;
    }
    tries = 0;
    after = batch.last_id;
  }
}
