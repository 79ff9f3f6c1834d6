import type { Handlers } from '../../../../generated/handlers.js';
import { byAction } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { logIn } from './login.js';
import { verifyTwoFactor } from './second-step.js';
import { toLoggedIn, toTwoFactorRequired } from './view.js';

export function loginHandlers(deps: Deps) {
  return {
    login: ({ ctx, body, address, userAgent }) =>
      byAction(body, {
        async login({ username, password }) {
          const outcome = await logIn(ctx, deps, { username, password, address, userAgent });
          if ('preauthToken' in outcome) return toTwoFactorRequired(outcome.preauthToken);
          return toLoggedIn(outcome, ctx.tenantId, deps.tokens);
        },
        async verify_2fa({ preauth_token: preauthToken, code }) {
          const signIn = await verifyTwoFactor(ctx, deps, { preauthToken, code, address, userAgent });
          return toLoggedIn(signIn, ctx.tenantId, deps.tokens);
        },
      }),
  } satisfies Partial<Handlers>;
}
