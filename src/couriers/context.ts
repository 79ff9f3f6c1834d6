import type { UserCaller } from '../auth/callers.js';
import type { Secrets } from '../auth/secrets.js';
import type { Db, Tx } from '../db/transaction.js';

/** Who asks for a change, and of which courier. */
export type Change = { db: Db; secrets: Secrets; caller: UserCaller; requestId: string; courierId: string };

/** A change inside its transaction. */
export type Ctx = Change & { tx: Tx };
