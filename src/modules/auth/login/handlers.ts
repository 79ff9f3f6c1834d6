import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { logIn } from './login.js';
import { verifyTwoFactor } from './second-step.js';
import { toLoggedIn } from './view.js';

export function loginHandlers(deps: Deps) {
  return {
    login: ({ ctx, body, address, userAgent }) =>
      byAction(body, {
        async login({ username, password }): Promise<ReplyOf<'login'>> {
          const outcome = await logIn(ctx, deps, { username, password, address, userAgent });
          if ('preauthToken' in outcome)
            return {
              statusCode: 200,
              status: '2fa_required',
              message: 'Send the code of your authenticator, or a backup code.',
              data: { preauth_token: outcome.preauthToken },
            };
          return toLoggedIn('Logged in.', outcome, ctx.tenantId, deps.tokens);
        },
        async verify_2fa({ preauth_token: preauthToken, code }) {
          const signIn = await verifyTwoFactor(ctx, deps, { preauthToken, code, address, userAgent });
          return toLoggedIn('Logged in.', signIn, ctx.tenantId, deps.tokens);
        },
      }),
  } satisfies Partial<Handlers>;
}
