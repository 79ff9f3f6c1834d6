import { differenceOf } from '../../platform/audit/difference.js';
import { auditLater } from '../../platform/audit/audit.js';
import type { PersonContext } from '../../platform/context/request-context.js';
import type { PersonCaller } from '../../platform/identity/callers.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import type { Tx, PersonTx } from '../../platform/db/scope.js';
import { confirmAccess, type Confirmation, type Settle } from '../auth/public.js';
import type { AccountMail } from '../mail/public.js';
import { countOpenTokensOf } from '../service-tokens/public.js';
import { needsOwner } from './first-owner.js';
import { queueMailsOf } from './notify.js';
import { lockedUser, userById, type LockedUser, type UserRow } from './queries.js';
import { assertRoom, courierOf, lockUsers, type RequestedRole } from './user.js';

/** The user after a change. `isChanged` is false if it already had the requested state. `openTokens` counts its service tokens. */
export type Changed = { user: UserRow; isChanged: boolean; openTokens?: number };

/** The contact fields to change. An undefined field is not changed. */
export type Contact = { fullName: string | undefined; email: string | null | undefined };

/**
 * Changes a user's name or e-mail address. The address receives the mail that resets the password. So a change of it is confirmed by a
 * recent login or the password, and a change of the own address always by the password.
 *
 * @throws ApiError validation_failed, user_not_found, password_wrong, too_many_attempts, overloaded, quota_exceeded
 */
export async function updateUser(
  ctx: PersonContext,
  userId: string,
  sent: Contact,
  confirmation: Confirmation,
): Promise<Changed> {
  assertContact(sent);
  if (!(await redirectsMail(ctx, userId, sent))) return storeContact(ctx, userId, keepingAddress(sent));
  if (userId === ctx.caller.userId && confirmation.password === undefined)
    throw invalidFieldError('current_password', 'required_for_own_email');
  return confirmAccess(ctx, confirmation, (settle) => storeContact(ctx, userId, sent, settle));
}

/** @throws ApiError validation_failed */
export function assertContact({ fullName, email }: Contact): void {
  if (fullName === undefined && email === undefined) throw invalidFieldError('full_name', 'contact_required');
  if (typeof email === 'string') assertUsable({ email: validateEmail(email) });
}

/**
 * The change without the address, which is the stored one. It may be another one when the change is written, by somebody who has confirmed
 * that: a change without a confirmation must not write the old one back.
 */
export const keepingAddress = ({ fullName }: Contact): Contact => ({ fullName, email: undefined });

async function redirectsMail(ctx: PersonContext, userId: string, { email }: Contact): Promise<boolean> {
  if (email === undefined) return false;
  const [[stored]] = await ctx.read([userById(ctx, userId)]);
  return stored !== undefined && stored.email !== email;
}

const storeContact = (ctx: PersonContext, userId: string, sent: Contact, settle?: Settle): Promise<Changed> =>
  changeUser(ctx, userId, (tx, stored) => writeContact(tx, stored, sent, ctx.caller), settle);

/**
 * Changes the contact of a locked user for `caller`. Returns whether it was another one.
 *
 * @throws ApiError quota_exceeded
 */
export async function writeContact(
  tx: Tx,
  stored: LockedUser,
  sent: Contact,
  caller: PersonCaller,
): Promise<boolean> {
  const { id } = stored;
  const email = sent.email === undefined ? stored.email : sent.email;
  const wanted = { fullName: sent.fullName ?? stored.fullName, email };
  const difference = differenceOf<StoredContact>(stored, wanted, ['fullName', 'email']);
  if (!difference) return false;
  await tx.models.user.updateMany({ where: { id }, data: { ...wanted, updatedAt: stored.now } });
  auditLater(tx, 'user.updated', id, { ...difference });
  if (email !== stored.email) await queueMailsOf(tx, caller, mailsToBoth(id, [stored.email, email]));
  return true;
}

type StoredContact = Pick<UserRow, 'fullName' | 'email'>;

/** The old address is notified too: the new one may not belong to the user. */
const mailsToBoth = (userId: string, recipients: (string | null)[]): AccountMail[] =>
  recipients.flatMap((recipient) =>
    recipient === null ? [] : [{ userId, kind: 'email_changed', recipient }],
  );

/** The part of an update that revokes all tokens of the user. */
export const REVOKE_TOKENS = { tokenVersion: { increment: 1 } };

/**
 * Deletes the tokens issued after a correct password, before the second factor. They must not remain valid
 * after the account changes.
 */
export async function deletePreauthTokens(tx: Tx, userId: string): Promise<void> {
  await tx.models.preauthToken.deleteMany({ where: { userId } });
}

/**
 * Changes a user's role and, for the role courier, its courier.
 * @throws ApiError validation_failed, user_not_found, courier_not_found, last_admin, too_many_users
 */
export function changeRole(
  ctx: PersonContext,
  userId: string,
  requested: RequestedRole,
  settle?: Settle,
): Promise<Changed> {
  const { role } = requested;
  const courierId = courierOf(requested);
  const change = async (tx: PersonTx, stored: LockedUser) => {
    if (stored.role === role && stored.courierId === courierId) return false;
    await assertOneAdminRemains(tx, stored);
    if (courierId !== null) {
      await assertCourierExists(tx, courierId);
      if (courierId !== stored.courierId) await assertRoom(tx, courierId);
    }
    const isCourierOwner = courierId !== null && (await needsOwner(tx, courierId));
    const data = { role, courierId, isCourierOwner, ...REVOKE_TOKENS, updatedAt: stored.now };
    await tx.models.user.updateMany({ where: { id: userId }, data });
    await deletePreauthTokens(tx, userId);
    const before = { role: stored.role, courier_id: stored.courierId };
    auditLater(tx, 'user.role_changed', userId, { before, after: { role, courier_id: courierId } });
    return true;
  };
  return changeUser(ctx, userId, change, settle);
}

/**
 * Enables or disables a user.
 * @throws ApiError user_not_found, last_admin
 */
export async function setUserActive(
  ctx: PersonContext,
  userId: string,
  isActive: boolean,
  settle?: Settle,
): Promise<Changed> {
  let openTokens: number | undefined;
  const change = async (tx: PersonTx, stored: LockedUser) => {
    if (!isActive) openTokens = await countOpenTokens(tx, userId);
    if (stored.isActive === isActive) return false;
    if (!isActive) await assertOneAdminRemains(tx, stored);
    await writeActive(tx, stored, isActive);
    return true;
  };
  const changed = await changeUser(ctx, userId, change, settle);
  return openTokens === undefined ? changed : { ...changed, openTokens };
}

/** Enables or disables a locked user. */
export async function writeActive(tx: Tx, { id, now }: LockedUser, isActive: boolean): Promise<void> {
  await tx.models.user.updateMany({ where: { id }, data: { isActive, ...REVOKE_TOKENS, updatedAt: now } });
  await deletePreauthTokens(tx, id);
  const [before, after] = [{ is_active: !isActive }, { is_active: isActive }];
  auditLater(tx, isActive ? 'user.enabled' : 'user.disabled', id, { before, after });
}

/** Returns how many service tokens that the user has created still work. */
export async function countOpenTokens(tx: Tx, userId: string): Promise<number> {
  const [counted] = await tx.query(countOpenTokensOf(tx, userId));
  return counted?.total ?? 0;
}

/**
 * Locks the user, runs `work`, which returns whether it changed anything, and returns the user's new state.
 * @param first runs before the user is locked
 * @throws ApiError token_invalid, user_not_found
 */
export function changeUser(
  ctx: PersonContext,
  userId: string,
  work: (tx: PersonTx, stored: LockedUser) => Promise<boolean>,
  first: (tx: PersonTx) => Promise<unknown> = () => Promise.resolve(),
): Promise<Changed> {
  return ctx.write(async (tx) => {
    // Before any user is locked, so that two administrators who remove each other run one after the other.
    await lockUsers(ctx, tx);
    await first(tx);
    const [stored] = await tx.query(lockedUser(ctx, userId));
    if (!stored) throw new ApiError('user_not_found');
    const isChanged = await work(tx, stored);
    const [user] = await tx.query(userById(ctx, userId));
    if (!user) throw new Error('The user was not found in the transaction that wrote it.');
    return { user, isChanged };
  });
}

/**
 * Throws if the user is the only enabled administrator.
 * @throws ApiError last_admin
 */
async function assertOneAdminRemains(tx: Tx, user: LockedUser): Promise<void> {
  if (user.role !== 'admin' || !user.isActive) return;
  const others = await tx.models.user.count({
    where: { role: 'admin', isActive: true, id: { not: user.id } },
  });
  if (others === 0) throw new ApiError('last_admin');
}

export async function assertCourierExists(tx: Tx, courierId: string): Promise<void> {
  const found = await tx.models.courier.count({ where: { id: courierId } });
  if (found === 0) throw new ApiError('courier_not_found');
}
