import type { SignIn } from '../sign-in.js';
import type { Tokens } from '../../../platform/access/tokens.js';
import type { ReplyOf } from '../../../platform/contract/types.js';

/** Returns the reply of a finished login, with a new access token. */
export function toLoggedIn(
  { account, sessionId }: SignIn,
  tenantId: string,
  tokens: Tokens,
): ReplyOf<'changePassword'> {
  const { id, role, courierId, tokenVersion, nowS } = account;
  return {
    statusCode: 200,
    message: 'Logged in.',
    data: {
      access_token: tokens.issue({ tenantId, userId: id, role, courierId, tokenVersion, sessionId }, nowS),
      token_type: 'Bearer',
      user: {
        id,
        full_name: account.fullName,
        username: account.username,
        role,
        courier_id: courierId,
        courier_code: account.courierCode,
        two_factor_enabled: account.twoFactorEnabled,
        must_change_password: account.mustChangePassword,
        must_set_up_two_factor: account.isFactorRequired && !account.twoFactorEnabled,
      },
    },
  };
}

export function toTwoFactorRequired(preauthToken: string): ReplyOf<'login'> {
  return {
    statusCode: 200,
    status: '2fa_required',
    message: 'Send the code of your authenticator, or a backup code.',
    data: { preauth_token: preauthToken },
  };
}
