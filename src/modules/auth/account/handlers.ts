import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { toSetupStarted, toDisabled, toEnabled, toPasswordChanged, toRegenerated, toStatus } from './view.js';
import { changePassword } from './change-password.js';
import {
  disableFactor,
  enableFactor,
  readFactor,
  regenerateBackupCodes,
  setUpFactor,
} from './second-factor.js';

/** Handlers of the operations on the caller's own account. */
export function accountHandlers(deps: Deps) {
  return {
    async changePassword({ body, caller, tenantId, address, userAgent, requestId }) {
      const context = { deps, caller, address, userAgent, requestId };
      const signIn = await changePassword(context, body.current_password, body.new_password);
      return toPasswordChanged(signIn, tenantId, deps.tokens);
    },

    async getTwoFactor({ caller, address, userAgent, requestId }) {
      return toStatus(await readFactor({ deps, caller, address, userAgent, requestId }));
    },

    manageTwoFactor({ body, caller, tenantId, address, userAgent, requestId }) {
      const context = { deps, caller, address, userAgent, requestId };
      return byAction<typeof body, Promise<ReplyOf<'manageTwoFactor'>>>(body, {
        setup: async ({ password }) => toSetupStarted(await setUpFactor(context, password)),
        enable: async ({ code }) => toEnabled(await enableFactor(context, code), tenantId, deps.tokens),
        disable: async ({ password, code }) =>
          toDisabled(await disableFactor(context, password, code), tenantId, deps.tokens),
        regenerate_backup_codes: async ({ password, code }) =>
          toRegenerated(await regenerateBackupCodes(context, password, code)),
      });
    },
  } satisfies Pick<Handlers, 'changePassword' | 'getTwoFactor' | 'manageTwoFactor'>;
}
