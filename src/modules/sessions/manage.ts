import { auditStatement } from '../../platform/audit/audit.js';
import type { SystemCaller, UserCaller } from '../../platform/identity/callers.js';
import { hasPermission } from '../../platform/access/permissions.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { assertAdmitted, transaction, snapshot, type Db, type Tx } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';
import {
  countSessions,
  deletePreauthTokens,
  endSession,
  endSessions,
  endTokens,
  pageOfSessions,
  sessionExists,
  userExists,
  type SessionRow,
} from './queries.js';

/** The context of an operation on sessions. */
export type SessionAccess = { db: Db; caller: UserCaller; requestId: string };

/**
 * Returns one page of a user's sessions.
 * @throws ApiError permission_denied, user_not_found
 */
export async function listSessions(
  { db, caller }: Pick<SessionAccess, 'db' | 'caller'>,
  query: QueryOf<'listSessions'>,
): Promise<{ rows: SessionRow[]; total: number }> {
  const userId = targetUserOf(caller, query.user_id);
  await assertAdmitted(db, caller);
  const system = systemOf(caller);
  const wanted = { userId, isActive: query.is_active, page: query.page, limit: query.limit };
  const [users, rows, count] = await snapshot(db, system, [
    userExists(db, system, userId),
    pageOfSessions(db, system, wanted),
    countSessions(db, system, wanted),
  ]);
  if (users?.length === 0) throw new ApiError('user_not_found');
  // The statements select exactly these columns.
  return { rows: rows as SessionRow[], total: Number(count?.[0]?.['total']) };
}

/**
 * Ends the caller's own session and returns the number of ended sessions. A token without a session revokes
 * all tokens of the user.
 */
export async function logOut(access: SessionAccess): Promise<number> {
  const { db, caller } = access;
  const { userId, sessionId } = caller;
  return change(access, async (tx, system) => {
    const ended = sessionId
      ? await tx.query(endSession(db, system, { userId, sessionId, reason: 'logout' }))
      : await endEverything(db, tx, system, userId);
    await recordAudit(access, tx, userId, 'user.logged_out', { session_id: sessionId ?? null });
    return ended.length;
  });
}

/**
 * Ends one session and returns the number of ended sessions. A session that has already ended is not changed.
 * @throws ApiError permission_denied, session_not_found
 */
export async function endOne(
  access: SessionAccess,
  sessionId: string,
  requestedUserId: string | undefined,
): Promise<number> {
  const { db } = access;
  const userId = targetUserOf(access.caller, requestedUserId);
  return change(requireFullAccess(access), async (tx, system) => {
    const ended = await tx.query(endSession(db, system, { userId, sessionId, reason: 'ended' }));
    if (ended.length > 0)
      await recordAudit(access, tx, userId, 'user.session_ended', { session_id: sessionId });
    else if ((await tx.query(sessionExists(db, system, userId, sessionId))).length === 0)
      throw new ApiError('session_not_found');
    return ended.length;
  });
}

/**
 * Ends all sessions of a user, optionally except the caller's own. Returns the number of ended sessions.
 * @throws ApiError permission_denied, user_not_found
 */
export async function endAll(
  access: SessionAccess,
  keepsCurrent: boolean,
  requestedUserId: string | undefined,
): Promise<number> {
  const { db, caller } = access;
  const userId = targetUserOf(caller, requestedUserId);
  return change(requireFullAccess(access), async (tx, system) => {
    if ((await tx.query(userExists(db, system, userId))).length === 0) throw new ApiError('user_not_found');
    const isKept = keepsCurrent && userId === caller.userId;
    const ended = isKept
      ? await tx.query(endSessions(db, system, userId, caller.sessionId ?? null))
      : await endEverything(db, tx, system, userId);
    await tx.execute(deletePreauthTokens(db, system, userId));
    await recordAudit(access, tx, userId, 'user.sessions_ended', {
      sessions: ended.length,
      kept_current: isKept,
    });
    return ended.length;
  });
}

async function endEverything(db: Db, tx: Tx, system: SystemCaller, userId: string): Promise<unknown[]> {
  const ended = await tx.query(endSessions(db, system, userId, null));
  await tx.execute(endTokens(db, system, userId));
  return ended;
}

/**
 * Checks that the caller may act, then writes in the system's scope, because couriers have no access to the
 * sessions table.
 */
async function change(
  { db, caller }: SessionAccess,
  work: (tx: Tx, system: SystemCaller) => Promise<number>,
): Promise<number> {
  await assertAdmitted(db, caller);
  const system = systemOf(caller);
  return transaction(db, system, (tx) => work(tx, system));
}

/** Requires a changed password and an enrolled second factor. Only logging out is allowed without them. */
function requireFullAccess(access: SessionAccess): SessionAccess {
  return { ...access, caller: { ...access.caller, changesPassword: false, enrolsFactor: false } };
}

/**
 * Returns the id of the user whose sessions the request concerns.
 * @throws ApiError permission_denied if it is another user and the caller may not manage users
 */
function targetUserOf(caller: UserCaller, requestedUserId: string | undefined): string {
  if (requestedUserId === undefined || requestedUserId === caller.userId) return caller.userId;
  const permission = 'user:manage';
  if (!hasPermission(caller.role, permission))
    throw new ApiError('permission_denied', { args: { permission } });
  return requestedUserId;
}

async function recordAudit(
  { caller, requestId }: SessionAccess,
  tx: Tx,
  userId: string,
  action: string,
  after: Record<string, unknown>,
): Promise<void> {
  const fact = { action, entity: 'user' as const, entityId: userId, after };
  await tx.execute(auditStatement(caller, requestId, [fact]));
}

const systemOf = ({ tenantId }: UserCaller): SystemCaller => ({ kind: 'system', tenantId });
