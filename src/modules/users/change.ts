import type { Role } from '../../platform/identity/callers.js';
import { assertUsable, validateEmail } from '../../platform/values/contact.js';
import { lockAdministrators } from '../../platform/db/locks.js';
import { transaction } from '../../platform/db/transaction.js';
import { ApiError, invalidFieldError } from '../../platform/errors/errors.js';
import { queueAccountMail } from '../mail/public.js';
import { record, type Change, type Ctx } from './context.js';
import {
  courierExists,
  deletePreauthTokens,
  hasOtherAdmin,
  lockUser,
  selectUser,
  setActive,
  setContact,
  setRole,
  type LockedUser,
  type UserRow,
} from './queries.js';
import { courierOf } from './user.js';

/** The user after a change. `isChanged` is false if it already had the requested state. */
export type Changed = { user: UserRow; isChanged: boolean };

/** The contact fields to change. An undefined field is not changed. */
export type Contact = { full_name?: string | undefined; email?: string | null | undefined };

/**
 * Changes a user's name or e-mail address.
 * @throws ApiError validation_failed, user_not_found
 */
export function updateUser(change: Change, userId: string, sent: Contact): Promise<Changed> {
  if (sent.full_name === undefined && sent.email === undefined)
    throw invalidFieldError('full_name', 'contact_required');
  if (typeof sent.email === 'string') assertUsable({ email: validateEmail(sent.email) });
  return changeUser(change, userId, async (ctx, before) => {
    const wanted = {
      full_name: sent.full_name ?? before.full_name,
      email: sent.email === undefined ? before.email : sent.email,
    };
    const fields = (['full_name', 'email'] as const).filter((name) => wanted[name] !== before[name]);
    if (fields.length === 0) return false;
    await setContact(ctx, userId, wanted);
    const only = (from: Pick<LockedUser, 'full_name' | 'email'>) =>
      Object.fromEntries(fields.map((name) => [name, from[name]]));
    await record(ctx, userId, { action: 'user.updated', before: only(before), after: only(wanted) });
    if (fields.includes('email')) await notifyBothAddresses(ctx, userId, [before.email, wanted.email]);
    return true;
  });
}

/** The old address is notified too: the new one may not belong to the user. */
async function notifyBothAddresses(
  { db, tx }: Ctx,
  userId: string,
  recipients: (string | null)[],
): Promise<void> {
  for (const recipient of recipients)
    if (recipient !== null) await queueAccountMail(db, tx, { userId, kind: 'email_changed', recipient });
}

/**
 * Changes a user's role and, for the role courier, its courier.
 * @throws ApiError validation_failed, user_not_found, courier_not_found, last_admin
 */
export function changeRole(
  change: Change,
  userId: string,
  role: Role,
  requestedCourierId: string | undefined,
): Promise<Changed> {
  const courierId = courierOf({ role, courierId: requestedCourierId });
  return changeUser(change, userId, async (ctx, before) => {
    if (before.role === role && before.courier_id === courierId) return false;
    await assertOneAdminRemains(ctx, before);
    if (courierId !== null) await assertCourier(ctx, courierId);
    await setRole(ctx, userId, role, courierId);
    await deletePreauthTokens(ctx, userId);
    await record(ctx, userId, {
      action: 'user.role_changed',
      before: { role: before.role, courier_id: before.courier_id },
      after: { role, courier_id: courierId },
    });
    return true;
  });
}

/**
 * Enables or disables a user.
 * @throws ApiError user_not_found, last_admin
 */
export function setUserActive(change: Change, userId: string, isActive: boolean): Promise<Changed> {
  return changeUser(change, userId, async (ctx, before) => {
    if (before.is_active === isActive) return false;
    if (!isActive) await assertOneAdminRemains(ctx, before);
    await setActive(ctx, userId, isActive);
    await deletePreauthTokens(ctx, userId);
    await record(ctx, userId, {
      action: isActive ? 'user.enabled' : 'user.disabled',
      before: { is_active: !isActive },
      after: { is_active: isActive },
    });
    return true;
  });
}

/**
 * Locks the user, runs `work`, which returns whether it changed anything, and returns the user's new state.
 * @param first runs before the user is locked
 * @throws ApiError user_not_found
 */
export function changeUser(
  change: Change,
  userId: string,
  work: (ctx: Ctx, before: LockedUser) => Promise<boolean>,
  first: (ctx: Ctx) => Promise<unknown> = () => Promise.resolve(),
): Promise<Changed> {
  return transaction(change.db, change.caller, async (tx) => {
    const ctx = { ...change, tx };
    // Locked before any user, so that two administrators who remove each other run one after the other.
    await tx.execute(lockAdministrators(change.caller.tenantId));
    await first(ctx);
    const before = await lockUser(ctx, userId);
    if (!before) throw new ApiError('user_not_found');
    const isChanged = await work(ctx, before);
    const user = await selectUser(ctx, userId);
    if (!user) throw new Error('The user was not found in the transaction that wrote it.');
    return { user, isChanged };
  });
}

/**
 * Throws if the user is the only enabled administrator.
 * @throws ApiError last_admin
 */
async function assertOneAdminRemains(ctx: Ctx, user: LockedUser): Promise<void> {
  if (user.role !== 'admin' || !user.is_active) return;
  if (!(await hasOtherAdmin(ctx, user.id))) throw new ApiError('last_admin');
}

async function assertCourier({ db, caller, tx }: Ctx, courierId: string): Promise<void> {
  const found = await tx.query(courierExists(db, caller, courierId));
  if (found.length === 0) throw new ApiError('courier_not_found');
}
