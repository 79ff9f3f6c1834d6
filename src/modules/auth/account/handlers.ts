import type { Handlers } from '../../../../generated/handlers.js';
import { reply } from '../../../platform/contract/reply.js';
import { byAction, type ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Deps } from '../../dependencies.js';
import { freshToken, toLoggedIn } from '../login/view.js';
import { changePassword } from './change-password.js';
import { disableFactor, regenerateBackupCodes } from './factor-changes.js';
import { enableFactor, setUpFactor, type Setup } from './factor-setup.js';
import { readFactor } from './own-account.js';

type Managed = ReplyOf<'manageTwoFactor'>;

/** Handlers of the operations on the caller's own account. */
export function accountHandlers(deps: Deps) {
  const { tokens } = deps;
  return {
    async changePassword({ ctx, body, address, userAgent }) {
      const { current_password: current, new_password: wanted } = body;
      const signIn = await changePassword(ctx, deps, { address, userAgent }, { current, wanted });
      return toLoggedIn('Password changed.', signIn, ctx.tenantId, tokens);
    },

    async getTwoFactor({ ctx }) {
      const { isEnabled, isRequired, backupCodesLeft, setupExpiresAt } = await readFactor(ctx);
      return reply(`Two-factor authentication is ${isEnabled ? 'on' : 'off'}.`, {
        enabled: isEnabled,
        required: isRequired,
        backup_codes_left: backupCodesLeft,
        setup_expires_at: setupExpiresAt && formatDateTime(setupExpiresAt),
      });
    },

    manageTwoFactor({ ctx, body, address, userAgent }) {
      const client = { address, userAgent };
      return byAction<typeof body, Promise<Managed>>(body, {
        setup: async ({ password }) => toSetupStarted(await setUpFactor(ctx, deps, client, password)),
        enable: async ({ code }) => {
          const { backupCodes, ...signIn } = await enableFactor(ctx, deps, client, code);
          const message = 'Two-factor authentication is on. The backup codes are shown only once.';
          return reply(message, { ...freshToken(signIn, ctx.tenantId, tokens), backup_codes: backupCodes });
        },
        disable: async (sent) => {
          const signIn = await disableFactor(ctx, deps, client, sent);
          return reply('Two-factor authentication is off.', freshToken(signIn, ctx.tenantId, tokens));
        },
        regenerate_backup_codes: async (sent) =>
          reply('Ten new backup codes created. They are shown only once.', {
            backup_codes: await regenerateBackupCodes(ctx, deps, client, sent),
          }),
      });
    },
  } satisfies Partial<Handlers>;
}

async function toSetupStarted({ secret, uri, expiresAt }: Setup): Promise<Managed> {
  // Imported on first use, because few users set up a second factor.
  const { default: QRCode } = await import('qrcode');
  return reply('Scan the QR code, and send the code that the authenticator shows.', {
    secret,
    otpauth_uri: uri,
    qr_code: await QRCode.toDataURL(uri),
    setup_expires_at: formatDateTime(expiresAt),
  });
}
