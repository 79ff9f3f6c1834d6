import type { Role, UserCaller } from '../../platform/identity/callers.js';
import { insertUser } from '../auth/public.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { transaction, snapshot, type Db } from '../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { newId } from '../../platform/values/ids.js';
import { record, type Change } from './context.js';
import { makePassword, type IssuedCredential } from './issued-credential.js';
import { countUsers, courierExists, pageOfUsers, usernameExists, type UserRow } from './queries.js';

/** One page and how many there are, in one round trip. */
export async function listUsers(
  db: Db,
  caller: UserCaller,
  query: QueryOf<'listUsers'>,
): Promise<{ rows: UserRow[]; total: number }> {
  const [rows, count] = await snapshot(db, caller, [
    pageOfUsers(db, caller, query),
    countUsers(db, caller, query),
  ]);
  // as: the columns that the two statements select
  return { rows: rows as UserRow[], total: Number(count?.[0]?.['total']) };
}

export type Creation = {
  username: string;
  fullName: string;
  email: string | undefined;
  role: Role;
  courierId: string | undefined;
};

/** @throws ApiError validation_failed, courier_not_found, duplicate_username, overloaded */
export async function createUser(change: Change, wanted: Creation): Promise<IssuedCredential> {
  const { fullName, role, email = null } = wanted;
  if (email !== null) assertUsable({ email: validateEmail(email) });
  const courierId = courierOf(wanted);
  // by the pattern of the contract ASCII alone, where JavaScript and PostgreSQL agree on lower case
  const username = wanted.username.toLowerCase();
  await assertPossible(change, username, courierId);
  const { password, passwordHash } = await makePassword(change);
  const id = newId();
  const expiresAt = await transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    const user = { id, username, fullName, email, role, courierId, passwordHash };
    const expires = await insertUser(tx, change.caller, user);
    const after = { username, full_name: fullName, email, role, courier_id: courierId };
    await record(ctx, id, { action: 'user.created', after });
    return expires;
  });
  return { userId: id, username, password, expiresAt };
}

/** What the insertion would be refused for, before a hash is paid for. */
async function assertPossible(
  { db, caller }: Change,
  username: string,
  courierId: string | null,
): Promise<void> {
  const named = courierId === null ? [] : [courierExists(db, caller, courierId)];
  const [taken, couriers] = await snapshot(db, caller, [usernameExists(db, caller, username), ...named]);
  if (courierId !== null && couriers?.length === 0) throw new ApiError('courier_not_found');
  if (taken?.length !== 0) throw new ApiError('duplicate_username');
}

/** The role courier has an account, and no other role has one. */
export function courierOf({ role, courierId }: Pick<Creation, 'role' | 'courierId'>): string | null {
  if (role === 'courier' && courierId === undefined)
    throw invalidFieldError('courier_id', 'required_for_couriers');
  if (role !== 'courier' && courierId !== undefined) throw invalidFieldError('courier_id', 'couriers_only');
  return courierId ?? null;
}
