import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import { accountById, type Account } from '../credentials/account-queries.js';
import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import { snapshot, type Tx } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { queueAccountMail, type AccountMailKind } from '../../mail/public.js';

/** A user who asks for a change of itself. */
export type Own = {
  deps: Deps;
  caller: UserCaller;
  address: string;
  userAgent: string | undefined;
  requestId: string;
};

/**
 * The scope in which a user's change of itself is written: what sign-in keeps, throttles and codes, no courier may see.
 * Who asks has been let in before, and each statement names the one user.
 */
export const systemOf = ({ tenantId }: UserCaller): SystemCaller => ({ kind: 'system', tenantId });

/** The caller's own account. @throws ApiError when it may not enter */
export async function ownAccount({ deps: { db }, caller }: Own): Promise<Account> {
  const [rows] = await snapshot(db, caller, [accountById(db, caller, caller.userId)]);
  // as: the shape that accountById selects
  const account = rows?.[0] as Account | undefined;
  if (!account) throw new ApiError('token_invalid');
  return account;
}

/** Notes what users did to themselves: the scope is the system's, the deed is theirs. */
export async function record(
  { caller, requestId }: Own,
  tx: Tx,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'user', entityId: caller.userId }]));
}

/** Mails the caller about what it, or whoever has its token, has just done. */
export const tellOwner = (own: Own, tx: Tx, kind: AccountMailKind): Promise<void> =>
  queueAccountMail(own.deps.db, tx, { userId: own.caller.userId, kind, client: own });

/** What the caller was let in with has changed meanwhile, and its token has ended with it. */
export function assertWritten(rows: number): void {
  if (rows !== 1) throw new ApiError('token_invalid');
}
