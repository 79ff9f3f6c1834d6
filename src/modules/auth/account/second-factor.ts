import {
  countBackupCodes,
  deleteBackupCodes,
  deletePreauthTokens,
  disableSecret,
  enableSecret,
  insertBackupCodes,
  lockUnchangedUser,
  pendingSetup,
  setPendingSecret,
  tenantName,
  type PendingSetup,
} from './queries.js';
import {
  assertUpdated,
  ownAccount,
  record,
  systemOf,
  queueOwnerMail,
  type OwnAccountContext,
} from './account-context.js';
import { newBackupCodes } from '../credentials/backup-codes.js';
import { confirmPassword } from './change-password.js';
import { verifyCode, verifyTotpCode, tryCode } from '../credentials/code-attempt.js';
import { accountById, type Account } from '../credentials/account-queries.js';
import type { EncryptionContext } from '../../../platform/access/secrets.js';
import type { SignIn } from '../sign-in.js';
import { resetFailures, passwordThrottle } from '../credentials/throttle.js';
import { newTotpSecret, otpauthUri, stepOfCode } from '../credentials/totp.js';
import { transaction, snapshot, type Tx } from '../../../platform/db/transaction.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { beginSession } from '../../sessions/public.js';

export type FactorStatus = {
  isEnabled: boolean;
  /** Whether the tenant requires a second factor for the user's role. */
  isRequired: boolean;
  backupCodesLeft: number;
  setupExpiresAt: Date | null;
};

/** Returns the state of the caller's second factor. */
export async function readFactor(context: OwnAccountContext): Promise<FactorStatus> {
  const { deps, caller } = context;
  const account = await ownAccount(context);
  const system = systemOf(caller);
  const [codes, pending] = await snapshot(deps.db, system, [
    countBackupCodes(deps.db, system, caller.userId),
    pendingSetup(deps.db, system, caller.userId),
  ]);
  return {
    isEnabled: account.twoFactorEnabled,
    isRequired: account.isFactorRequired,
    backupCodesLeft: Number(codes?.[0]?.['left'] ?? 0),
    // pendingSetup selects exactly these columns.
    setupExpiresAt: (pending?.[0] as PendingSetup | undefined)?.expiresAt ?? null,
  };
}

export type Setup = { secret: string; uri: string; expiresAt: Date };

/**
 * Creates a pending secret. It takes effect only after a code has proved it.
 * @throws ApiError two_factor_enabled, password_wrong
 */
export async function setUpFactor(context: OwnAccountContext, password: string): Promise<Setup> {
  const { deps, caller } = context;
  const account = await ownAccount(context);
  assertFactorDisabled(account);
  return confirmPassword(context, account, 'password', password, (confirmed) => {
    const secret = newTotpSecret();
    const cipher = deps.secrets.encrypt(secret, encryptionContext(context, 'totp_pending_secret'));
    return transaction(deps.db, systemOf(caller), async (tx) => {
      const [pending] = await tx.query<PendingSetup>(setPendingSecret(deps.db, caller, confirmed, cipher));
      if (!pending) throw new ApiError('token_invalid');
      await tx.execute(resetFailures(deps.db, caller, passwordThrottle(account.username)));
      await record(context, tx, { action: 'user.two_factor_setup_begun' });
      const [tenant] = await tx.query<{ name: string }>(tenantName(deps.db, caller));
      const uri = otpauthUri(tenant?.name ?? 'Crossdock', account.username, secret);
      return { secret, uri, expiresAt: pending.expiresAt };
    });
  });
}

export type Enabled = SignIn & { backupCodes: string[] };

/**
 * Enables the second factor if the code proves the pending secret.
 * @throws ApiError two_factor_enabled, two_factor_setup_missing, code_wrong, 429
 */
export async function enableFactor(context: OwnAccountContext, code: string): Promise<Enabled> {
  const { deps } = context;
  const before = await ownAccount(context);
  assertFactorDisabled(before);
  return runCodeAttempt(context, async (tx) => {
    const pending = await findPending(context, tx);
    const outcome = await tryCode(deps.db, tx, codeUserOf(context), () =>
      Promise.resolve(verifyPendingSecret(context, pending, before, code)),
    );
    if (outcome === undefined || outcome instanceof ApiError) return outcome;
    return enableVerifiedSecret(context, tx, outcome);
  });
}

async function findPending({ deps: { db }, caller }: OwnAccountContext, tx: Tx): Promise<PendingSetup> {
  const [pending] = await tx.query<PendingSetup>(pendingSetup(db, caller, caller.userId));
  if (!pending) throw new ApiError('two_factor_setup_missing');
  return pending;
}

type Proven = { secret: string; proven: string; step: number };

function verifyPendingSecret(
  context: OwnAccountContext,
  { cipher }: PendingSetup,
  { nowS }: Account,
  code: string,
): Proven | undefined {
  const secret = context.deps.secrets.decrypt(cipher, encryptionContext(context, 'totp_pending_secret'));
  const step = stepOfCode(secret, code, nowS);
  return step === undefined ? undefined : { secret, proven: cipher, step };
}

async function enableVerifiedSecret(
  context: OwnAccountContext,
  tx: Tx,
  { secret, proven, step }: Proven,
): Promise<Enabled> {
  const { deps, caller } = context;
  const cipher = deps.secrets.encrypt(secret, encryptionContext(context, 'totp_secret'));
  assertUpdated(await tx.execute(enableSecret(deps.db, caller, { proven, cipher, step })));
  await tx.execute(deletePreauthTokens(deps.db, caller, caller.userId));
  const backupCodes = await replaceBackupCodes(context, tx);
  await record(context, tx, { action: 'user.two_factor_enabled', ...enabledChange(false) });
  await queueOwnerMail(context, tx, 'two_factor_enabled');
  return { ...(await startNewSession(context, tx)), backupCodes };
}

/**
 * Disables the second factor. Accepts an authenticator code or a backup code.
 * @throws ApiError two_factor_disabled, password_wrong, code_wrong, 429
 */
export async function disableFactor(
  context: OwnAccountContext,
  password: string,
  code: string,
): Promise<SignIn> {
  const { deps, caller } = context;
  const { isRequired } = await readFactor(context);
  if (isRequired) throw new ApiError('two_factor_required', { variant: 'stays_on' });
  return withPasswordAndCode(context, password, verifyCode, code, async (tx, account) => {
    assertUpdated(await tx.execute(disableSecret(deps.db, caller, account)));
    await tx.execute(deleteBackupCodes(deps.db, caller, caller.userId));
    await tx.execute(deletePreauthTokens(deps.db, caller, caller.userId));
    await record(context, tx, { action: 'user.two_factor_disabled', ...enabledChange(true) });
    await queueOwnerMail(context, tx, 'two_factor_disabled');
    return startNewSession(context, tx);
  });
}

/**
 * Replaces the backup codes. Accepts only an authenticator code.
 * @throws ApiError two_factor_disabled, password_wrong, code_wrong, 429
 */
export async function regenerateBackupCodes(
  context: OwnAccountContext,
  password: string,
  code: string,
): Promise<string[]> {
  const { deps, caller } = context;
  return withPasswordAndCode(context, password, verifyTotpCode, code, async (tx, account) => {
    assertUpdated((await tx.query(lockUnchangedUser(deps.db, caller, account))).length);
    const backupCodes = await replaceBackupCodes(context, tx);
    await record(context, tx, { action: 'user.backup_codes_regenerated' });
    await queueOwnerMail(context, tx, 'backup_codes_regenerated');
    return backupCodes;
  });
}

type CodeVerifier = (
  deps: OwnAccountContext['deps'],
  tx: Tx,
  account: Account,
  code: string,
) => Promise<string | boolean | undefined>;

/** Runs `work` if password and code are correct. The code is used up. */
async function withPasswordAndCode<Result>(
  context: OwnAccountContext,
  password: string,
  verify: CodeVerifier,
  code: string,
  work: (tx: Tx, account: Account) => Promise<Result>,
): Promise<Result> {
  const { deps, caller } = context;
  const account = await ownAccount(context);
  if (!account.twoFactorEnabled) throw new ApiError('two_factor_disabled');
  return confirmPassword(context, account, 'password', password, (confirmed) =>
    runCodeAttempt(context, async (tx) => {
      const taken = await tryCode(
        deps.db,
        tx,
        codeUserOf(context),
        async () => (await verify(deps, tx, confirmed, code)) || undefined,
      );
      const outcome = taken === undefined || taken instanceof ApiError ? taken : await work(tx, confirmed);
      // Last, because every transaction locks the user before the throttle. The password was correct even if
      // the code was not.
      await tx.execute(resetFailures(deps.db, caller, passwordThrottle(account.username)));
      return outcome;
    }),
  );
}

/**
 * Runs an attempt that returns a rejection instead of throwing it, so that the attempt stays counted. Then
 * throws the rejection.
 */
async function runCodeAttempt<Result>(
  { deps, caller, address }: OwnAccountContext,
  attempt: (tx: Tx) => Promise<Result | ApiError | undefined>,
): Promise<Result> {
  await deps.loginLimiter.assertMayTry(caller.tenantId, address);
  const outcome = await transaction(deps.db, systemOf(caller), attempt);
  if (outcome instanceof ApiError) throw outcome;
  if (outcome !== undefined) return outcome;
  await deps.loginLimiter.countFailure(caller.tenantId, address);
  throw new ApiError('code_wrong', { errors: [fieldError('code', 'code_wrong')] });
}

async function replaceBackupCodes(
  { deps: { db, secrets }, caller }: OwnAccountContext,
  tx: Tx,
): Promise<string[]> {
  const codes = newBackupCodes();
  await tx.execute(deleteBackupCodes(db, caller, caller.userId));
  await tx.execute(
    insertBackupCodes(
      caller,
      codes.map((code) => secrets.lookupHash(code, 'backup_code')),
    ),
  );
  return codes;
}

/** Returns the current account and starts the session of its new token. */
async function startNewSession(context: OwnAccountContext, tx: Tx): Promise<SignIn> {
  const { deps, caller } = context;
  const [account] = await tx.query<Account>(accountById(deps.db, caller, caller.userId));
  if (!account) throw new Error('The user was not found in the transaction that wrote it.');
  return { account, sessionId: await beginSession(tx, account, 'two_factor_change', context) };
}

function assertFactorDisabled({ twoFactorEnabled }: Account): void {
  if (twoFactorEnabled) throw new ApiError('two_factor_enabled');
}

const enabledChange = (wasEnabled: boolean) => ({
  before: { two_factor_enabled: wasEnabled },
  after: { two_factor_enabled: !wasEnabled },
});

const codeUserOf = ({ caller, requestId }: OwnAccountContext) => ({ userId: caller.userId, requestId });

const encryptionContext = (
  { caller }: OwnAccountContext,
  field: EncryptionContext['field'],
): EncryptionContext => ({
  tenantId: caller.tenantId,
  rowId: caller.userId,
  field,
});
