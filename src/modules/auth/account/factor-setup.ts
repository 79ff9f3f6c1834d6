import { auditLater } from '../../../platform/audit/audit.js';
import {
  enableSecret,
  pendingSetup,
  setPendingSecret,
  type PendingSetup,
  type VerifiedSecret,
} from './queries.js';
import { replaceBackupCodes, runCodeAttempt } from './own-code-attempt.js';
import { queueOwnerMail, startNewSession } from './own-account.js';
import { assertUpdated, confirmPassword, readOwnAccount } from '../credentials/own-password.js';
import type { Account, SignIn } from '../credentials/account-queries.js';
import { tryCode } from '../credentials/code-attempt.js';
import type { AttemptDeps } from '../credentials/password-attempt.js';
import { resetFailures, passwordThrottle } from '../../../platform/limits/stored/login-throttle.js';
import { newTotpSecret, otpauthUri, stepOfCode } from '../credentials/totp.js';
import type { EncryptionContext, Secrets } from '../../../platform/access/secrets.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';
import type { Client } from '../../sessions/public.js';

export type Setup = { secret: string; uri: string; expiresAt: Date };

/**
 * Creates a pending secret. It takes effect only after the user has confirmed it with a code.
 * @throws ApiError two_factor_enabled, password_wrong
 */
export async function setUpFactor(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  password: string,
): Promise<Setup> {
  const account = await readOwnAccount(ctx);
  assertFactorDisabled(account);
  const own = { field: 'password', username: account.username, password };
  return confirmPassword(ctx, deps, client, own, (confirmed) => beginSetup(ctx, deps.secrets, confirmed));
}

function beginSetup(ctx: PersonContext, secrets: Secrets, account: Account): Promise<Setup> {
  const secret = newTotpSecret();
  const cipher = secrets.encrypt(secret, encryptionContext(ctx, 'totp_pending_secret'));
  return ctx.asTenant().write(async (tx) => {
    const [pending] = await tx.query(setPendingSecret(ctx, account, cipher));
    if (!pending) throw new ApiError('token_invalid');
    await tx.count(resetFailures(ctx, passwordThrottle(account.username)));
    auditLater(tx, 'user.two_factor_setup_begun', ctx.caller.userId);
    const tenant = await tx.models.tenant.findFirst({ select: { name: true } });
    const uri = otpauthUri(tenant?.name ?? 'Crossdock', account.username, secret);
    return { secret, uri, expiresAt: pending.expiresAt };
  });
}

export type Enabled = SignIn & { backupCodes: string[] };

/**
 * Enables the second factor if the code proves the pending secret.
 * @throws ApiError two_factor_enabled, two_factor_setup_missing, code_wrong, 429
 */
export async function enableFactor(
  ctx: PersonContext,
  deps: AttemptDeps,
  client: Client,
  code: string,
): Promise<Enabled> {
  const account = await readOwnAccount(ctx);
  assertFactorDisabled(account);
  return runCodeAttempt(ctx, deps, client, async (tx) => {
    const [pending] = await tx.query(pendingSetup(ctx));
    if (!pending) throw new ApiError('two_factor_setup_missing');
    const outcome = await tryCode(tx, ctx.caller.userId, () =>
      Promise.resolve(verifyPendingSecret(ctx, deps.secrets, pending, { code, nowS: account.nowS })),
    );
    if (outcome === undefined || outcome instanceof ApiError) return outcome;
    return enableVerifiedSecret(ctx, tx, deps.secrets, client, outcome);
  });
}

/** The secret in plain text and as stored. `step` is the time step of the code that proved it. */
type ProvenSecret = { secret: string; pendingCipher: string; step: number };

function verifyPendingSecret(
  ctx: PersonContext,
  secrets: Secrets,
  { cipher }: PendingSetup,
  { code, nowS }: { code: string; nowS: number },
): ProvenSecret | undefined {
  const secret = secrets.decrypt(cipher, encryptionContext(ctx, 'totp_pending_secret'));
  const step = stepOfCode(secret, code, nowS);
  return step === undefined ? undefined : { secret, pendingCipher: cipher, step };
}

async function enableVerifiedSecret(
  ctx: PersonContext,
  tx: Tx,
  secrets: Secrets,
  client: Client,
  { secret, ...proof }: ProvenSecret,
): Promise<Enabled> {
  const { userId } = ctx.caller;
  const cipher = secrets.encrypt(secret, encryptionContext(ctx, 'totp_secret'));
  const verified: VerifiedSecret = { ...proof, cipher };
  assertUpdated(await tx.count(enableSecret(ctx, verified)));
  await tx.models.preauthToken.deleteMany({ where: { userId } });
  const backupCodes = await replaceBackupCodes(ctx, tx, secrets);
  const before = { two_factor_enabled: false };
  auditLater(tx, 'user.two_factor_enabled', userId, { before, after: { two_factor_enabled: true } });
  await queueOwnerMail(ctx, tx, client, 'two_factor_enabled');
  return { ...(await startNewSession(ctx, tx, client, 'two_factor_change')), backupCodes };
}

function assertFactorDisabled({ twoFactorEnabled }: Account): void {
  if (twoFactorEnabled) throw new ApiError('two_factor_enabled');
}

const encryptionContext = (
  { caller }: PersonContext,
  field: EncryptionContext['field'],
): EncryptionContext => ({ tenantId: caller.tenantId, rowId: caller.userId, field });
