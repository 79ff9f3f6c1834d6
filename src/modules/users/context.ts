import { auditStatement, type AuditFact } from '../../platform/audit/audit.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import type { LoginLimiter } from '../../platform/access/login-limiter.js';
import type { Db, Tx } from '../../platform/db/transaction.js';

/** The context of a change of a user. */
export type Change = { db: Db; loginLimiter: LoginLimiter; caller: UserCaller; requestId: string };

/** The context of a change inside its transaction. */
export type Ctx = Change & { tx: Tx };

/** Records a change of a user in the audit trail, in the same transaction. */
export async function record(
  { tx, caller, requestId }: Ctx,
  userId: string,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'user', entityId: userId }]));
}
