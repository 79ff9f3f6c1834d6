import type { UserCaller } from '../../../platform/identity/callers.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';

/** Who asks for a change. */
export type Change = { db: Db; caller: UserCaller; requestId: string };

/** A change inside its transaction. */
export type Ctx = Change & { tx: Tx };
