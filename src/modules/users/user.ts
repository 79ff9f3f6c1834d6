import { readPage, type Page } from '../../platform/context/read-page.js';
import { auditLater } from '../../platform/audit/audit.js';
import { insertUser, newOneTimePassword, type Settle } from '../auth/public.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import { lockAdministrators } from '../../platform/db/locks.js';
import type { Tx } from '../../platform/db/scope.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import type { Role, PersonCaller } from '../../platform/identity/callers.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import { newId } from '../../platform/values/ids.js';
import { courierExists } from '../couriers/public.js';
import { needsOwner } from './first-owner.js';
import { countUsers, pageOfUsers, usernameExists, type UserRow } from './queries.js';
import type { Deps } from '../dependencies.js';

/** Returns one page of users and the total number, in one round trip. */
export const listUsers = (ctx: PersonContext, query: QueryOf<'listUsers'>): Promise<Page<UserRow>> =>
  readPage(ctx, pageOfUsers(ctx, query), countUsers(ctx, query));

/** Disabled ones count, because users are never deleted. */
const MAX_USERS_OF_A_COURIER = 200;

/**
 * Waits for other changes of the tenant's users, and then checks the caller again: whom another administrator has disabled or given another
 * role meanwhile changes nobody, not even back.
 *
 * @throws ApiError token_invalid
 */
export async function lockUsers({ tenantId, caller }: PersonContext, tx: Tx): Promise<void> {
  await tx.count(lockAdministrators(tenantId));
  const { userId: id, tokenVersion } = caller;
  if ((await tx.models.user.count({ where: { id, isActive: true, tokenVersion } })) === 0)
    throw new ApiError('token_invalid');
}

/**
 * Call it under `lockAdministrators`, or two users could take the last place.
 *
 * @throws ApiError too_many_users if the courier has as many users as it may have
 */
export async function assertRoom(tx: Tx, courierId: string): Promise<void> {
  const users = await tx.models.user.count({ where: { courierId } });
  if (users >= MAX_USERS_OF_A_COURIER)
    throw new ApiError('too_many_users', { args: { limit: MAX_USERS_OF_A_COURIER } });
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
 * @throws ApiError validation_failed, courier_not_found, duplicate_username, too_many_users, overloaded
 */
export async function createUser(
  ctx: PersonContext,
  deps: PasswordDeps,
  input: NewUserInput,
  settle?: Settle,
): Promise<IssuedCredential> {
  const { fullName, role, email = null } = input;
  if (email !== null) assertUsable({ email: validateEmail(email) });
  const courierId = courierOf(input);
  // The contract allows only ASCII, for which JavaScript and PostgreSQL have the same lower case.
  const username = input.username.toLowerCase();
  await assertCreatable(ctx, username, courierId);
  const { password, passwordHash } = await issuePassword(ctx.caller, deps, settle);
  const id = newId();
  const expiresAt = await ctx.write(async (tx) => {
    await lockUsers(ctx, tx);
    await settle?.(tx);
    if (courierId !== null) await assertRoom(tx, courierId);
    const isCourierOwner = courierId !== null && (await needsOwner(tx, courierId));
    const user = { id, username, fullName, email, role, courierId, isCourierOwner, passwordHash };
    const expires = await insertUser(tx, user);
    const after = { username, full_name: fullName, email, role, courier_id: courierId };
    auditLater(tx, 'user.created', id, { after });
    return expires;
  });
  return { userId: id, username, password, expiresAt };
}

/** Checks the conditions of the insertion before the expensive hash. */
export async function assertCreatable(
  ctx: PersonContext,
  username: string,
  courierId: string | null,
): Promise<void> {
  const courierStatements = courierId === null ? [] : [courierExists(ctx, courierId)];
  const [taken, couriers] = await ctx.read([usernameExists(ctx, username), ...courierStatements]);
  if (courierId !== null && couriers?.length === 0) throw new ApiError('courier_not_found');
  if (taken.length > 0) throw new ApiError('duplicate_username');
}

/** A role, and the courier that the role courier needs. */
export type RequestedRole = Pick<NewUserInput, 'role' | 'courierId'>;

/**
 * Returns the courier id of a new role. The role courier requires one, other roles must not have one.
 * @throws ApiError validation_failed
 */
export function courierOf({ role, courierId }: RequestedRole): string | null {
  if (role === 'courier' && courierId === undefined)
    throw invalidFieldError('courier_id', 'required_for_couriers');
  if (role !== 'courier' && courierId !== undefined) throw invalidFieldError('courier_id', 'couriers_only');
  return courierId ?? null;
}

/** A one-time password to be given to its user. It is stored only as a hash. */
export type IssuedCredential = { userId: string; username: string; password: string; expiresAt: Date };

/** The dependencies of issuing a password. */
export type PasswordDeps = Pick<Deps, 'loginLimiter' | 'passwords'>;

/**
 * Returns a new password and its hash. Hashing shares the limit of logins, because a hash takes a fifth of a
 * second of CPU time.
 *
 * @param settle is set if the caller's own password is confirmed: then this runs within the limit already, and would wait for itself
 */
export async function issuePassword(
  caller: PersonCaller,
  { loginLimiter, passwords }: PasswordDeps,
  settle: Settle | undefined,
): Promise<{ password: string; passwordHash: string }> {
  const password = newOneTimePassword();
  const hash = () => passwords.hash(password);
  return {
    password,
    passwordHash: settle ? await hash() : await loginLimiter.hashFor(caller, hash),
  };
}
