import type { Handlers } from '../../generated/handlers.js';
import { byAction } from '../contract/types.js';
import type { Deps } from '../deps.js';
import { logIn } from './login.js';
import { verifyTwoFactor } from './two-factor.js';
import { toLoggedIn, toTwoFactorRequired } from './view.js';

export function loginHandlers(deps: Deps) {
  return {
    login: ({ body, tenantId, address, requestId }) =>
      byAction(body, {
        async login({ username, password }) {
          const outcome = await logIn(deps, { tenantId, username, password, address, requestId });
          if ('preauthToken' in outcome) return toTwoFactorRequired(outcome.preauthToken);
          return toLoggedIn(outcome.account, tenantId, deps.tokens);
        },
        async verify_2fa({ preauth_token: preauthToken, code }) {
          const account = await verifyTwoFactor(deps, { tenantId, preauthToken, code, address, requestId });
          return toLoggedIn(account, tenantId, deps.tokens);
        },
      }),
  } satisfies Pick<Handlers, 'login'>;
}
