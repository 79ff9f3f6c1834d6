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

/** Who asks about sessions. */
export type SessionAccess = { db: Db; caller: UserCaller; requestId: string };

/** One page of a user's sessions. @throws ApiError permission_denied, user_not_found */
export async function listSessions(
  { db, caller }: Pick<SessionAccess, 'db' | 'caller'>,
  query: QueryOf<'listSessions'>,
): Promise<{ rows: SessionRow[]; total: number }> {
  const userId = ownerOf(caller, query.user_id);
  await assertAdmitted(db, caller);
  const system = systemOf(caller);
  const wanted = { userId, isActive: query.is_active, page: query.page, limit: query.limit };
  const [users, rows, count] = await snapshot(db, system, [
    userExists(db, system, userId),
    pageOfSessions(db, system, wanted),
    countSessions(db, system, wanted),
  ]);
  if (users?.length === 0) throw new ApiError('user_not_found');
  // The columns that the statements select.
  return { rows: rows as SessionRow[], total: Number(count?.[0]?.['total']) };
}

/** Ends the caller's own session. A token without one ends with all other tokens of the user. */
export async function logOut(asking: SessionAccess): Promise<number> {
  const { db, caller } = asking;
  const { userId, sessionId } = caller;
  return change(asking, async (tx, system) => {
    const ended = sessionId
      ? await tx.query(endSession(db, system, { userId, sessionId, reason: 'logout' }))
      : await endEverything(db, tx, system, userId);
    await note(asking, tx, userId, 'user.logged_out', { session_id: sessionId ?? null });
    return ended.length;
  });
}

/** Ends one session; one that has ended stays as it is. @throws ApiError permission_denied, session_not_found */
export async function endOne(
  asking: SessionAccess,
  sessionId: string,
  named: string | undefined,
): Promise<number> {
  const { db } = asking;
  const userId = ownerOf(asking.caller, named);
  return change(withoutExemptions(asking), async (tx, system) => {
    const ended = await tx.query(endSession(db, system, { userId, sessionId, reason: 'ended' }));
    if (ended.length > 0) await note(asking, tx, userId, 'user.session_ended', { session_id: sessionId });
    else if ((await tx.query(sessionExists(db, system, userId, sessionId))).length === 0)
      throw new ApiError('session_not_found');
    return ended.length;
  });
}

/** Ends all sessions of a user, or all but the caller's own. @throws ApiError permission_denied, user_not_found */
export async function endAll(
  asking: SessionAccess,
  keepsCurrent: boolean,
  named: string | undefined,
): Promise<number> {
  const { db, caller } = asking;
  const userId = ownerOf(caller, named);
  return change(withoutExemptions(asking), async (tx, system) => {
    if ((await tx.query(userExists(db, system, userId))).length === 0) throw new ApiError('user_not_found');
    const isKept = keepsCurrent && userId === caller.userId;
    const ended = isKept
      ? await tx.query(endSessions(db, system, userId, caller.sessionId ?? null))
      : await endEverything(db, tx, system, userId);
    await tx.execute(deletePreauthTokens(db, system, userId));
    await note(asking, tx, userId, 'user.sessions_ended', { sessions: ended.length, kept_current: isKept });
    return ended.length;
  });
}

async function endEverything(db: Db, tx: Tx, system: SystemCaller, userId: string): Promise<unknown[]> {
  const ended = await tx.query(endSessions(db, system, userId, null));
  await tx.execute(endTokens(db, system, userId));
  return ended;
}

/** Sessions are written in the system's scope, because no courier may see the table. The caller is admitted before. */
async function change(
  { db, caller }: SessionAccess,
  work: (tx: Tx, system: SystemCaller) => Promise<number>,
): Promise<number> {
  await assertAdmitted(db, caller);
  const system = systemOf(caller);
  return transaction(db, system, (tx) => work(tx, system));
}

/** Logging out is all that a one-time password or a missing second factor allows. */
function withoutExemptions(asking: SessionAccess): SessionAccess {
  return { ...asking, caller: { ...asking.caller, changesPassword: false, enrolsFactor: false } };
}

/** Whose sessions are meant. @throws ApiError permission_denied unless they are the caller's, or it manages users */
function ownerOf(caller: UserCaller, named: string | undefined): string {
  if (named === undefined || named === caller.userId) return caller.userId;
  if (!hasPermission(caller.role, 'user:manage')) throw new ApiError('permission_denied');
  return named;
}

async function note(
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
