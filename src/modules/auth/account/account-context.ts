import type { SystemCaller, UserCaller } from '../../../platform/identity/callers.js';
import { accountById, type Account } from '../credentials/account-queries.js';
import { auditStatement, type AuditFact } from '../../../platform/audit/audit.js';
import { snapshot, type Tx } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { queueAccountMail, type AccountMailKind } from '../../mail/public.js';

/** The context of a user who changes its own account. */
export type OwnAccountContext = {
  deps: Deps;
  caller: UserCaller;
  address: string;
  userAgent: string | undefined;
  requestId: string;
};

/**
 * Returns the scope for changes of a user's own account. Couriers have no access to throttles and codes. The
 * caller is already authorized, and each statement is limited to the caller's user id.
 */
export const systemOf = ({ tenantId }: UserCaller): SystemCaller => ({ kind: 'system', tenantId });

/**
 * Returns the caller's own account.
 * @throws ApiError token_invalid if the account may no longer log in
 */
export async function ownAccount({ deps: { db }, caller }: OwnAccountContext): Promise<Account> {
  const [rows] = await snapshot(db, caller, [accountById(db, caller, caller.userId)]);
  // accountById selects exactly these columns.
  const account = rows?.[0] as Account | undefined;
  if (!account) throw new ApiError('token_invalid');
  return account;
}

/**
 * Records a change in the audit trail with the user as actor, although the transaction has the system's
 * scope.
 */
export async function record(
  { caller, requestId }: OwnAccountContext,
  tx: Tx,
  fact: Omit<AuditFact, 'entity' | 'entityId'>,
): Promise<void> {
  await tx.execute(auditStatement(caller, requestId, [{ ...fact, entity: 'user', entityId: caller.userId }]));
}

/** Queues a mail to the user about the change, in case somebody else has the user's token. */
export const queueOwnerMail = (context: OwnAccountContext, tx: Tx, kind: AccountMailKind): Promise<void> =>
  queueAccountMail(context.deps.db, tx, { userId: context.caller.userId, kind, client: context });

/** Throws if a compare-and-set changed no row: the account has changed and the token has been revoked. */
export function assertUpdated(rows: number): void {
  if (rows !== 1) throw new ApiError('token_invalid');
}
