import type { Enabled, Setup } from './factor-setup.js';
import type { FactorStatus } from './factor-status.js';
import type { SignIn } from '../sign-in.js';
import type { Tokens } from '../../../platform/access/tokens.js';
import { toLoggedIn } from '../login/view.js';
import type { ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';

type Reply = ReplyOf<'manageTwoFactor'>;

export function toPasswordChanged(
  signIn: SignIn,
  tenantId: string,
  tokens: Tokens,
): ReplyOf<'changePassword'> {
  return { ...toLoggedIn(signIn, tenantId, tokens), message: 'Password changed.' };
}

export function toStatus({
  isEnabled,
  isRequired,
  backupCodesLeft,
  setupExpiresAt,
}: FactorStatus): ReplyOf<'getTwoFactor'> {
  return {
    statusCode: 200,
    message: `Two-factor authentication is ${isEnabled ? 'on' : 'off'}.`,
    data: {
      enabled: isEnabled,
      required: isRequired,
      backup_codes_left: backupCodesLeft,
      setup_expires_at: setupExpiresAt && formatDateTime(setupExpiresAt),
    },
  };
}

export async function toSetupStarted({ secret, uri, expiresAt }: Setup): Promise<Reply> {
  // Imported on first use, because few users set up a second factor.
  const { default: QRCode } = await import('qrcode');
  return {
    statusCode: 200,
    message: 'Scan the QR code, and send the code that the authenticator shows.',
    data: {
      secret,
      otpauth_uri: uri,
      qr_code: await QRCode.toDataURL(uri),
      setup_expires_at: formatDateTime(expiresAt),
    },
  };
}

export function toEnabled({ backupCodes, ...signIn }: Enabled, tenantId: string, tokens: Tokens): Reply {
  return {
    statusCode: 200,
    message: 'Two-factor authentication is on. The backup codes are shown only once.',
    data: { ...freshToken(signIn, tenantId, tokens), backup_codes: backupCodes },
  };
}

export const toDisabled = (signIn: SignIn, tenantId: string, tokens: Tokens): Reply => ({
  statusCode: 200,
  message: 'Two-factor authentication is off.',
  data: freshToken(signIn, tenantId, tokens),
});

export const toRegenerated = (backupCodes: string[]): Reply => ({
  statusCode: 200,
  message: 'Ten new backup codes created. They are shown only once.',
  data: { backup_codes: backupCodes },
});

function freshToken({ account, sessionId }: SignIn, tenantId: string, tokens: Tokens) {
  const { id, role, courierId, tokenVersion, nowS } = account;
  return {
    access_token: tokens.issue({ tenantId, userId: id, role, courierId, tokenVersion, sessionId }, nowS),
    token_type: 'Bearer' as const,
  };
}
