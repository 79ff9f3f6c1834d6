import type { Role, UserCaller } from '../../platform/identity/callers.js';
import { makeContext } from '../../platform/context/request-context.js';
import { insertUser } from '../auth/public.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { transaction, snapshot, type Db } from '../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import { record, type Change } from './context.js';
import { issuePassword, type IssuedCredential } from './issued-credential.js';
import { countUsers, courierExists, pageOfUsers, usernameExists, type UserRow } from './queries.js';

/** Returns one page of users and the total number, in one round trip. */
export async function listUsers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listUsers'>,
): Promise<{ rows: UserRow[]; total: number }> {
  const [rows, count] = await snapshot(db, caller, [
    pageOfUsers(db, caller, query),
    countUsers(db, caller, query),
  ]);
  // The two statements select exactly these columns.
  return { rows: rows as UserRow[], total: Number(count?.[0]?.['total']) };
}

export type NewUserInput = {
  username: string;
  fullName: string;
  email: string | undefined;
  role: Role;
  courierId: string | undefined;
};

/**
 * Creates a user with a one-time password.
 * @throws ApiError validation_failed, courier_not_found, duplicate_username, overloaded
 */
export async function createUser(change: Change, input: NewUserInput): Promise<IssuedCredential> {
  const { fullName, role, email = null } = input;
  if (email !== null) assertUsable({ email: validateEmail(email) });
  const courierId = courierOf(input);
  // The contract allows only ASCII, for which JavaScript and PostgreSQL have the same lower case.
  const username = input.username.toLowerCase();
  await assertCreatable(change, username, courierId);
  const { password, passwordHash } = await issuePassword(change);
  const id = newId();
  const expiresAt = await transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const user = { id, username, fullName, email, role, courierId, passwordHash };
    const expires = await insertUser(makeContext(change.db, change.caller, change.requestId), tx, user);
    const after = { username, full_name: fullName, email, role, courier_id: courierId };
    await record(ctx, id, { action: 'user.created', after });
    return expires;
  });
  return { userId: id, username, password, expiresAt };
}

/** Checks the conditions of the insertion before the expensive hash. */
async function assertCreatable(
  { db, caller }: Change,
  username: string,
  courierId: string | null,
): Promise<void> {
  const courierStatements = courierId === null ? [] : [courierExists(db, caller, courierId)];
  const [taken, couriers] = await snapshot(db, caller, [
    usernameExists(db, caller, username),
    ...courierStatements,
  ]);
  if (courierId !== null && couriers?.length === 0) throw new ApiError('courier_not_found');
  if (taken?.length !== 0) throw new ApiError('duplicate_username');
}

/**
 * Returns the courier id of a new role. The role courier requires one, other roles must not have one.
 * @throws ApiError validation_failed
 */
export function courierOf({ role, courierId }: Pick<NewUserInput, 'role' | 'courierId'>): string | null {
  if (role === 'courier' && courierId === undefined)
    throw invalidFieldError('courier_id', 'required_for_couriers');
  if (role !== 'courier' && courierId !== undefined) throw invalidFieldError('courier_id', 'couriers_only');
  return courierId ?? null;
}
