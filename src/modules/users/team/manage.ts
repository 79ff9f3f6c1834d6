import { auditLater } from '../../../platform/audit/audit.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { ApiError, fieldError, invalidFieldError } from '../../../platform/errors/errors.js';
import { assertUsable, validateEmail } from '../../../platform/values/contact.js';
import { newId } from '../../../platform/values/ids.js';
import { confirmAccess, insertUser, type Confirmation, type Settle } from '../../auth/public.js';
import {
  assertContact,
  assertCourierExists,
  countOpenTokens,
  deletePreauthTokens,
  keepingAddress,
  REVOKE_TOKENS,
  writeActive,
  writeContact,
  type Contact,
} from '../change.js';
import { credentialOf, writePassword } from '../reset.js';
import {
  assertCreatable,
  assertRoom,
  issuePassword,
  type IssuedCredential,
  type PasswordDeps,
} from '../user.js';
import { callerNow, type CallerRow, type LockedMember, type TeamRole } from './queries.js';
import {
  assertManages,
  changeManaged,
  changeMember,
  changeTeam,
  managing,
  type ChangedMember,
} from './team.js';

/** A role as it was requested. */
export type RequestedTeamRole = {
  role: TeamRole;
  courierRole: 'owner' | 'member' | undefined;
  courierId: string | undefined;
};

type Placed = { role: TeamRole; courierId: string | null; isCourierOwner: boolean };

export type NewMember = RequestedTeamRole & {
  username: string;
  fullName: string;
  email: string | undefined;
};

/**
 * Creates a user of the team with a one-time password.
 *
 * @throws ApiError validation_failed, permission_denied, courier_not_found, duplicate_username, too_many_users, overloaded
 */
export async function createMember(
  ctx: PersonContext,
  deps: PasswordDeps,
  input: NewMember,
  settle?: Settle,
): Promise<IssuedCredential> {
  const [[caller]] = await ctx.read([callerNow(ctx)]);
  const own = managing(caller);
  const { fullName, email = null } = input;
  if (email !== null) assertUsable({ email: validateEmail(email) });
  // The contract allows only ASCII, for which JavaScript and PostgreSQL have the same lower case.
  const username = input.username.toLowerCase();
  const placed = placeOf(input, own);
  assertPrefix(username, own);
  await assertCreatable(ctx, username, placed.courierId);
  const { password, passwordHash } = await issuePassword(ctx.caller, deps, settle);
  const id = newId();
  const insert = async (tx: SystemTx, still: CallerRow) => {
    const { role, courierId, isCourierOwner } = placeOf(input, still);
    if (courierId !== null) await assertRoom(tx, courierId);
    const person = { username, email };
    const expires = await insertUser(tx, {
      ...person,
      id,
      fullName,
      role,
      courierId,
      isCourierOwner,
      passwordHash,
    });
    const after = { ...person, full_name: fullName, ...auditedPlace({ role, courierId, isCourierOwner }) };
    auditLater(tx, 'user.created', id, { after });
    return expires;
  };
  const expiresAt = await changeTeam(ctx, insert, settle);
  return { userId: id, username, password, expiresAt };
}

/**
 * The user names of a courier begin with its code. Otherwise an owner could find out which names the warehouse and other couriers
 * have: it would be told that they are taken.
 *
 * @throws ApiError validation_failed
 */
function assertPrefix(username: string, { courierCode }: CallerRow): void {
  if (courierCode === null) return;
  const prefix = `${courierCode.toLowerCase()}.`;
  if (!username.startsWith(prefix)) throw invalidFieldError('username', 'courier_prefix', { prefix });
}

/**
 * Returns where a requested role puts a user. Owners give only roles at their courier.
 *
 * @throws ApiError validation_failed, permission_denied
 */
function placeOf({ role, courierRole, courierId }: RequestedTeamRole, own: CallerRow): Placed {
  if (role === 'warehouse') {
    if (own.courierId !== null)
      throw new ApiError('permission_denied', {
        variant: 'team_role',
        errors: [fieldError('role', 'team_role')],
      });
    if (courierId !== undefined) throw invalidFieldError('courier_id', 'couriers_only');
    if (courierRole !== undefined) throw invalidFieldError('courier_role', 'couriers_only');
    return { role, courierId: null, isCourierOwner: false };
  }
  const courier = own.courierId ?? courierId;
  if (courier === undefined) throw invalidFieldError('courier_id', 'required_for_couriers');
  if (courierRole === undefined) throw invalidFieldError('courier_role', 'required_for_couriers');
  return { role, courierId: courier, isCourierOwner: courierRole === 'owner' };
}

const auditedPlace = ({ role, courierId, isCourierOwner }: Placed) => ({
  role,
  courier_id: courierId,
  ...(courierId === null ? {} : { courier_role: isCourierOwner ? 'owner' : 'member' }),
});

/**
 * Changes the name or the e-mail address of a user of the team. A change of the address is confirmed, as in `updateUser`. The user is
 * looked up first: the question for the password tells nothing about the users of others.
 *
 * @throws ApiError validation_failed, permission_denied, own_account, user_not_found, password_wrong, too_many_attempts, overloaded,
 *   quota_exceeded
 */
export async function updateMember(
  ctx: PersonContext,
  userId: string,
  sent: Contact,
  confirmation: Confirmation,
): Promise<ChangedMember> {
  assertContact(sent);
  const store = (contact: Contact, settle?: Settle) =>
    changeManaged(ctx, userId, (tx, stored) => writeContact(tx, stored, contact, ctx.caller), settle);
  const { email } = await assertManages(ctx, userId);
  if (sent.email === undefined || sent.email === email) return store(keepingAddress(sent));
  return confirmAccess(ctx, confirmation, (settle) => store(sent, settle));
}

/**
 * Changes the role, the courier, or the role at the courier. The user needs a new token.
 *
 * @throws ApiError validation_failed, permission_denied, own_account, user_not_found, courier_not_found, too_many_users
 */
export const changeTeamRole = (
  ctx: PersonContext,
  userId: string,
  requested: RequestedTeamRole,
  settle?: Settle,
): Promise<ChangedMember> => {
  const change = async (tx: SystemTx, stored: LockedMember, own: CallerRow) => {
    const wanted = placeOf(requested, own);
    const before = auditedPlace(stored);
    const after = auditedPlace(wanted);
    if (JSON.stringify(before) === JSON.stringify(after)) return false;
    if (wanted.courierId !== null && wanted.courierId !== stored.courierId) {
      await assertCourierExists(tx, wanted.courierId);
      await assertRoom(tx, wanted.courierId);
    }
    const data = { ...wanted, ...REVOKE_TOKENS, updatedAt: stored.now };
    await tx.models.user.updateMany({ where: { id: userId }, data });
    await deletePreauthTokens(tx, userId);
    auditLater(tx, 'user.role_changed', userId, { before, after });
    return true;
  };
  return changeMember(ctx, userId, change, settle);
};

/**
 * Enables or disables a user of the team. `openTokens` counts the service tokens of a disabled one that still work.
 *
 * @throws ApiError permission_denied, own_account, user_not_found
 */
export async function setMemberActive(
  ctx: PersonContext,
  userId: string,
  isActive: boolean,
  settle?: Settle,
): Promise<ChangedMember & { openTokens?: number }> {
  let openTokens: number | undefined;
  const change = async (tx: SystemTx, stored: LockedMember) => {
    if (!isActive) openTokens = await countOpenTokens(tx, userId);
    if (stored.isActive === isActive) return false;
    await writeActive(tx, stored, isActive);
    return true;
  };
  const changed = await changeMember(ctx, userId, change, settle);
  return openTokens === undefined ? changed : { ...changed, openTokens };
}

/**
 * Gives a user of the team a new one-time password.
 *
 * @throws ApiError permission_denied, own_account, user_not_found, overloaded, quota_exceeded
 */
export async function resetMemberPassword(
  ctx: PersonContext,
  deps: PasswordDeps,
  userId: string,
  settle?: Settle,
): Promise<IssuedCredential & { openTokens: number }> {
  await assertManages(ctx, userId);
  const { password, passwordHash } = await issuePassword(ctx.caller, deps, settle);
  let openTokens = 0;
  const reset = async (tx: SystemTx, stored: LockedMember) => {
    openTokens = await writePassword(tx, stored, passwordHash, ctx.caller);
    return true;
  };
  const { user } = await changeManaged(ctx, userId, reset, settle);
  return { ...credentialOf(user, password), openTokens };
}
