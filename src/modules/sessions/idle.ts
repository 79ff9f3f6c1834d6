import type { SystemCaller } from '../../platform/identity/callers.js';
import { pipeline, type Db } from '../../platform/db/transaction.js';
import { markIdleSessions } from './queries.js';

/**
 * Ends the tenant's sessions that exceeded the idle timeout. The database function enter_as_user rejects
 * their tokens even before that.
 */
export async function endIdleSessions(db: Db, caller: SystemCaller): Promise<void> {
  await pipeline(db, caller, [markIdleSessions(db, caller)]);
}
