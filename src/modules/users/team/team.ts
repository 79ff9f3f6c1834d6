import type { PersonContext } from '../../../platform/context/request-context.js';
import type { Page } from '../../../platform/context/read-page.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { lockAdministrators } from '../../../platform/db/locks.js';
import type { SystemTx } from '../../../platform/db/scope.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Settle } from '../../auth/public.js';
import { assertAnother } from '../reset.js';
import {
  callerNow,
  countTeam,
  lockedMember,
  memberById,
  pageOfTeam,
  visibleMember,
  type CallerRow,
  type LockedMember,
  type MemberRow,
} from './queries.js';

/** One page of the team. `canManage` is false for members of a courier. */
export type TeamPage = Page<MemberRow> & { canManage: boolean };

/** Returns one page of the caller's team and the number of its users, in one round trip. */
export async function listTeam(ctx: PersonContext, query: QueryOf<'listTeam'>): Promise<TeamPage> {
  const [rows, [counted], [own]] = await ctx.read([
    pageOfTeam(ctx, query),
    countTeam(ctx, query),
    callerNow(ctx),
  ]);
  return { rows, total: counted?.total ?? 0, canManage: own !== undefined && manages(own) };
}

const manages = ({ courierId, isCourierOwner }: CallerRow): boolean => courierId === null || isCourierOwner;

/** Throws unless the caller manages a team. @throws ApiError token_invalid, permission_denied */
export function managing(own: CallerRow | undefined): CallerRow {
  if (!own) throw new ApiError('token_invalid');
  if (!manages(own)) throw new ApiError('permission_denied', { variant: 'owners_only' });
  return own;
}

/** A user of the team after a change. `isChanged` is false if it already had the requested state. */
export type ChangedMember = { user: MemberRow; isChanged: boolean };

/**
 * Looks a user up in the caller's own scope, before a change. So row-level security refuses a courier the users of others.
 * Returns its e-mail address.
 *
 * @throws ApiError permission_denied, own_account, user_not_found
 */
export async function assertManages(ctx: PersonContext, userId: string): Promise<{ email: string | null }> {
  const [[own], [found]] = await ctx.read([callerNow(ctx), visibleMember(ctx, userId)]);
  managing(own);
  assertAnother(ctx, userId);
  if (!found) throw new ApiError('user_not_found');
  return found;
}

/**
 * Opens the transaction of a change, when no other change of a user of the tenant runs. In the scope of the tenant, because couriers
 * have no access to sessions, throttles and mails. So `work` must name the courier.
 *
 * @param settle is set if the caller's own password was confirmed
 * @throws ApiError token_invalid, permission_denied if another change has taken the caller's rights meanwhile
 */
export const changeTeam = <Result>(
  ctx: PersonContext,
  work: (tx: SystemTx, own: CallerRow) => Promise<Result>,
  settle?: Settle,
): Promise<Result> =>
  ctx.asTenant().write(async (tx) => {
    // Of two owners who remove each other, the second one finds that it is an owner no more.
    await tx.count(lockAdministrators(ctx.tenantId));
    await settle?.(tx);
    const [own] = await tx.query(callerNow(ctx));
    return work(tx, managing(own));
  });

/** Returns whether it changed anything. */
type Change = (tx: SystemTx, stored: LockedMember, own: CallerRow) => Promise<boolean>;

/**
 * Looks a user of the team up, and changes it.
 * @throws ApiError permission_denied, own_account, user_not_found
 */
export async function changeMember(
  ctx: PersonContext,
  userId: string,
  work: Change,
  settle?: Settle,
): Promise<ChangedMember> {
  await assertManages(ctx, userId);
  return changeManaged(ctx, userId, work, settle);
}

/**
 * Changes a user of the team that `assertManages` has found.
 * @throws ApiError permission_denied, user_not_found if that has changed meanwhile
 */
export function changeManaged(
  ctx: PersonContext,
  userId: string,
  work: Change,
  settle?: Settle,
): Promise<ChangedMember> {
  const change = async (tx: SystemTx, own: CallerRow) => {
    const [stored] = await tx.query(lockedMember(tx, own.courierId, userId));
    if (!stored) throw new ApiError('user_not_found');
    const isChanged = await work(tx, stored, own);
    const [user] = await tx.query(memberById(tx, userId));
    if (!user) throw new Error('The user was not found in the transaction that wrote it.');
    return { user, isChanged };
  };
  return changeTeam(ctx, change, settle);
}
