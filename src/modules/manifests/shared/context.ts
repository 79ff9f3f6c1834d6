import type { UserCaller } from '../../../platform/identity/callers.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';

/** The context of a change. */
export type Change = { db: Db; caller: UserCaller; requestId: string };

/** The context of a change inside its transaction. */
export type Ctx = Change & { tx: Tx };
