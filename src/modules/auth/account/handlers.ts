import type { Handlers } from '../../../../generated/handlers.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { toSetupStarted, toDisabled, toEnabled, toPasswordChanged, toRegenerated, toStatus } from './view.js';
import { changePassword } from './change-password.js';
import { enableFactor, setUpFactor } from './factor-setup.js';
import { readFactor } from './factor-status.js';
import { disableFactor, regenerateBackupCodes } from './factor-changes.js';

/** Handlers of the operations on the caller's own account. */
export function accountHandlers(deps: Deps) {
  return {
    async changePassword({ ctx, body, address, userAgent }) {
      const { current_password: current, new_password: wanted } = body;
      const signIn = await changePassword(ctx, deps, { address, userAgent }, { current, wanted });
      return toPasswordChanged(signIn, ctx.tenantId, deps.tokens);
    },

    async getTwoFactor({ ctx }) {
      return toStatus(await readFactor(ctx));
    },

    manageTwoFactor({ ctx, body, address, userAgent }) {
      const client = { address, userAgent };
      return byAction<typeof body, Promise<ReplyOf<'manageTwoFactor'>>>(body, {
        setup: async ({ password }) => toSetupStarted(await setUpFactor(ctx, deps, client, password)),
        enable: async ({ code }) =>
          toEnabled(await enableFactor(ctx, deps, client, code), ctx.tenantId, deps.tokens),
        disable: async ({ password, code }) =>
          toDisabled(await disableFactor(ctx, deps, client, { password, code }), ctx.tenantId, deps.tokens),
        regenerate_backup_codes: async ({ password, code }) =>
          toRegenerated(await regenerateBackupCodes(ctx, deps, client, { password, code })),
      });
    },
  } satisfies Partial<Handlers>;
}
