import type { SystemCaller } from '../../platform/identity/callers.js';
import { pipeline, type Db } from '../../platform/db/transaction.js';
import { markIdleSessions } from './queries.js';

/** Ends the tenant's sessions that have been idle for too long. enter_as_user refuses them without this, too. */
export async function endIdleSessions(db: Db, caller: SystemCaller): Promise<void> {
  await pipeline(db, caller, [markIdleSessions(db, caller)]);
}
