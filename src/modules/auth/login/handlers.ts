import type { Handlers } from '../../../../generated/handlers.js';
import { byAction } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { logIn } from './login.js';
import { verifyTwoFactor } from './second-step.js';
import { toLoggedIn, toTwoFactorRequired } from './view.js';

export function loginHandlers(deps: Deps) {
  return {
    login: ({ body, tenantId, address, userAgent, requestId }) =>
      byAction(body, {
        async login({ username, password }) {
          const client = { tenantId, address, userAgent, requestId };
          const outcome = await logIn(deps, { ...client, username, password });
          if ('preauthToken' in outcome) return toTwoFactorRequired(outcome.preauthToken);
          return toLoggedIn(outcome, tenantId, deps.tokens);
        },
        async verify_2fa({ preauth_token: preauthToken, code }) {
          const client = { tenantId, address, userAgent, requestId };
          const signIn = await verifyTwoFactor(deps, { ...client, preauthToken, code });
          return toLoggedIn(signIn, tenantId, deps.tokens);
        },
      }),
  } satisfies Pick<Handlers, 'login'>;
}
