import type { components } from '../../../../generated/contract.js';
import type { Account, SignIn } from '../credentials/account-queries.js';
import type { Tokens } from '../../../platform/access/tokens.js';
import { reply } from '../../../platform/contract/reply.js';
import type { ReplyOf } from '../../../platform/contract/types.js';

/** Returns a new access token of the session. */
export function freshToken({ account, sessionId }: SignIn, tenantId: string, tokens: Tokens) {
  const { id, role, courierId, tokenVersion, nowS } = account;
  return {
    access_token: tokens.issue({ tenantId, userId: id, role, courierId, tokenVersion, sessionId }, nowS),
    token_type: 'Bearer' as const,
  };
}

/** Returns the reply of a finished login, with a new access token. */
export function toLoggedIn(
  message: string,
  signIn: SignIn,
  tenantId: string,
  tokens: Tokens,
): ReplyOf<'changePassword'> {
  return reply(message, { ...freshToken(signIn, tenantId, tokens), user: viewUser(signIn.account) });
}

/** Returns a user as its own login shows it. */
export const viewUser = (account: Account): components['schemas']['LoggedInUser'] => ({
  id: account.id,
  full_name: account.fullName,
  username: account.username,
  role: account.role,
  courier_id: account.courierId,
  courier_code: account.courierCode,
  two_factor_enabled: account.twoFactorEnabled,
  must_change_password: account.mustChangePassword,
  must_set_up_two_factor: account.isFactorRequired && !account.twoFactorEnabled,
});
