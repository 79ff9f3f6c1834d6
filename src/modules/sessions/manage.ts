import { auditLater } from '../../platform/audit/audit.js';
import { hasPermission } from '../../platform/access/permissions.js';
import type { PersonContext, SystemContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import type { Tx } from '../../platform/db/scope.js';
import { removePinOf } from './pin.js';
import {
  countSessions,
  endSession,
  endSessions,
  endTokens,
  lockedCaller,
  pageOfSessions,
  userExists,
  type SessionRow,
  markIdleSessions,
} from './queries.js';

// Couriers have no access to the sessions table, so each operation works in the scope of the tenant.

/**
 * Returns one page of a user's sessions.
 * @throws ApiError permission_denied, user_not_found
 */
export async function listSessions(
  ctx: PersonContext,
  query: QueryOf<'listSessions'>,
): Promise<{ rows: SessionRow[]; total: number }> {
  const userId = targetUserOf(ctx.caller, query.user_id);
  const wanted = { userId, isActive: query.is_active, page: query.page, limit: query.limit };
  const [users, rows, [counted]] = await ctx
    .asTenant()
    .read([userExists(ctx, userId), pageOfSessions(ctx, wanted), countSessions(ctx, wanted)]);
  if (users.length === 0) throw new ApiError('user_not_found');
  return { rows, total: counted?.total ?? 0 };
}

/**
 * Ends the caller's own session and returns the number of ended sessions. A token without a session revokes
 * all tokens of the user. Callers with a one-time password or without a required second factor may log out.
 */
export async function logOut(ctx: PersonContext): Promise<number> {
  const { userId, sessionId } = ctx.caller;
  return asLockedCaller(ctx, async (tx) => {
    const ended = sessionId
      ? await tx.query(endSession(ctx, { userId, sessionId, reason: 'logout' }))
      : await endAllAndTokens(ctx, tx, userId);
    // A token without a session is revoked with all others of the user, so it does this once.
    if (ended.length > 0 || sessionId === undefined)
      auditLater(tx, 'user.logged_out', userId, { after: { session_id: sessionId ?? null } });
    return ended.length;
  });
}

/**
 * Ends one session and returns the number of ended sessions. A session that has already ended is not changed.
 * @throws ApiError permission_denied, session_not_found
 */
export async function endOne(
  ctx: PersonContext,
  sessionId: string,
  requestedUserId: string | undefined,
): Promise<number> {
  const userId = targetUserOf(ctx.caller, requestedUserId);
  return asLockedCaller(ctx, async (tx) => {
    const ended = await tx.query(endSession(ctx, { userId, sessionId, reason: 'ended' }));
    if (ended.length > 0) {
      auditLater(tx, 'user.session_ended', userId, { after: { session_id: sessionId } });
    } else if ((await tx.models.session.count({ where: { id: sessionId, userId } })) === 0)
      throw new ApiError('session_not_found');
    return ended.length;
  });
}

/**
 * Ends all sessions of a user, optionally except the caller's own. Returns the number of ended sessions.
 * @throws ApiError permission_denied, user_not_found
 */
export async function endAll(
  ctx: PersonContext,
  keepsCurrent: boolean,
  requestedUserId: string | undefined,
): Promise<number> {
  const { caller } = ctx;
  const userId = targetUserOf(caller, requestedUserId);
  return asLockedCaller(ctx, async (tx) => {
    if ((await tx.models.user.count({ where: { id: userId } })) === 0) throw new ApiError('user_not_found');
    const isKept = keepsCurrent && userId === caller.userId;
    const ended = isKept
      ? await tx.query(endSessions(ctx, userId, caller.sessionId ?? null))
      : await endAllAndTokens(ctx, tx, userId);
    const logins = await tx.models.preauthToken.deleteMany({ where: { userId } });
    // A PIN would start the next session at once.
    await removePinOf(tx, userId);
    const after = { sessions: ended.length, kept_current: isKept };
    // Otherwise requests without end could fill the audit log, which is kept for ever.
    if (ended.length + logins.count > 0) auditLater(tx, 'user.sessions_ended', userId, { after });
    return ended.length;
  });
}

/**
 * Writes in the tenant's scope. The account is checked again under a lock: a user who is disabled in between ends no session.
 * @throws ApiError token_invalid, account_disabled
 */
const asLockedCaller = <Result>(ctx: PersonContext, work: (tx: Tx) => Promise<Result>): Promise<Result> =>
  ctx.asTenant().write(async (tx) => {
    const [account] = await tx.query(lockedCaller(ctx));
    if (!account) throw new ApiError('token_invalid');
    if (!account.isActive) throw new ApiError('account_disabled');
    if (account.tokenVersion !== ctx.caller.tokenVersion) throw new ApiError('token_invalid');
    return work(tx);
  });

async function endAllAndTokens(ctx: PersonContext, tx: Tx, userId: string): Promise<{ id: string }[]> {
  const ended = await tx.query(endSessions(ctx, userId, null));
  await tx.count(endTokens(ctx, userId));
  return ended;
}

/**
 * Returns the id of the user whose sessions the request concerns.
 * @throws ApiError permission_denied if it is another user and the caller may not manage users
 */
function targetUserOf(caller: PersonCaller, requestedUserId: string | undefined): string {
  if (requestedUserId === undefined || requestedUserId === caller.userId) return caller.userId;
  const permission = 'user:manage';
  if (!hasPermission(caller.role, permission))
    throw new ApiError('permission_denied', { args: { permission } });
  return requestedUserId;
}

/**
 * Ends the tenant's sessions that exceeded the idle timeout. The database function enter_with_token rejects
 * their tokens even before that.
 */
export async function endIdleSessions(ctx: SystemContext): Promise<void> {
  await ctx.write([markIdleSessions(ctx)]);
}
