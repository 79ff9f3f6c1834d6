import { auditStatement, type AuditFact } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { LoginLimiter } from '../../platform/access/login-limiter.js';
import type { Db, Tx } from '../../platform/db/transaction.js';

/** Who asks for a change of a user. */
export type Change = { db: Db; loginLimiter: LoginLimiter; caller: UserCaller; requestId: string };

/** A change inside its transaction. */
export type Ctx = Change & { tx: Tx };

/** Notes what was done to a user, in the transaction that does it. */
export async function record(
  { tx, caller, requestId }: Ctx,
  userId: string,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'user', entityId: userId }]));
}
