import {
  countBackupCodes,
  deleteBackupCodes,
  deletePreauthTokens,
  disableSecret,
  enableSecret,
  insertBackupCodes,
  lockGuarded,
  pendingSetup,
  setPendingSecret,
  tenantName,
  type PendingSetup,
} from './queries.js';
import { assertWritten, ownAccount, record, systemOf, tellOwner, type Own } from './account-context.js';
import { newBackupCodes } from '../credentials/backup-codes.js';
import { confirmPassword } from './change-password.js';
import { takeCode, takeTotpCode, tryCode } from '../credentials/code-attempt.js';
import { accountById, type Account } from '../credentials/account-queries.js';
import type { EncryptionContext } from '../../../platform/access/secrets.js';
import type { SignIn } from '../sign-in.js';
import { forgetFailures, passwordThrottle } from '../credentials/throttle.js';
import { newTotpSecret, otpauthUri, stepOfCode } from '../credentials/totp.js';
import { transaction, snapshot, type Tx } from '../../../platform/db/transaction.js';
import { ApiError } from '../../../platform/errors/errors.js';
import { beginSession } from '../../sessions/public.js';

export type FactorStatus = {
  isEnabled: boolean;
  /** The tenant requires it of the user's role. */
  isRequired: boolean;
  backupCodesLeft: number;
  setupExpiresAt: Date | null;
};

/** How the caller's second factor stands. */
export async function readFactor(own: Own): Promise<FactorStatus> {
  const { deps, caller } = own;
  const account = await ownAccount(own);
  const system = systemOf(caller);
  const [codes, pending] = await snapshot(deps.db, system, [
    countBackupCodes(deps.db, system, caller.userId),
    pendingSetup(deps.db, system, caller.userId),
  ]);
  return {
    isEnabled: account.twoFactorEnabled,
    isRequired: account.isFactorRequired,
    backupCodesLeft: Number(codes?.[0]?.['left'] ?? 0),
    // as: the shape that pendingSetup selects
    setupExpiresAt: (pending?.[0] as PendingSetup | undefined)?.expiresAt ?? null,
  };
}

export type Setup = { secret: string; uri: string; expiresAt: Date };

/** Makes a secret that counts for nothing until a code proves it. @throws ApiError two_factor_enabled, password_wrong */
export async function setUpFactor(own: Own, password: string): Promise<Setup> {
  const { deps, caller } = own;
  const account = await ownAccount(own);
  assertOff(account);
  return confirmPassword(own, account, 'password', password, (confirmed) => {
    const secret = newTotpSecret();
    const cipher = deps.secrets.encrypt(secret, placeOf(own, 'totp_pending_secret'));
    return transaction(deps.db, systemOf(caller), async (tx) => {
      const [pending] = await tx.query<PendingSetup>(setPendingSecret(deps.db, caller, confirmed, cipher));
      if (!pending) throw new ApiError('token_invalid');
      await tx.execute(forgetFailures(deps.db, caller, passwordThrottle(account.username)));
      await record(own, tx, { action: 'user.two_factor_setup_begun' });
      const [tenant] = await tx.query<{ name: string }>(tenantName(deps.db, caller));
      const uri = otpauthUri(tenant?.name ?? 'Crossdock', account.username, secret);
      return { secret, uri, expiresAt: pending.expiresAt };
    });
  });
}

export type Enabled = SignIn & { backupCodes: string[] };

/** Turns on what a code proves. @throws ApiError two_factor_enabled, two_factor_setup_missing, code_wrong, 429 */
export async function enableFactor(own: Own, code: string): Promise<Enabled> {
  const { deps } = own;
  const before = await ownAccount(own);
  assertOff(before);
  return judgeCode(own, async (tx) => {
    const pending = await findPending(own, tx);
    const outcome = await tryCode(deps.db, tx, guesserOf(own), () =>
      Promise.resolve(prove(own, pending, before, code)),
    );
    if (outcome === undefined || outcome instanceof ApiError) return outcome;
    return turnOn(own, tx, outcome);
  });
}

async function findPending({ deps: { db }, caller }: Own, tx: Tx): Promise<PendingSetup> {
  const [pending] = await tx.query<PendingSetup>(pendingSetup(db, caller, caller.userId));
  if (!pending) throw new ApiError('two_factor_setup_missing');
  return pending;
}

type Proven = { secret: string; proven: string; step: number };

function prove(own: Own, { cipher }: PendingSetup, { nowS }: Account, code: string): Proven | undefined {
  const secret = own.deps.secrets.decrypt(cipher, placeOf(own, 'totp_pending_secret'));
  const step = stepOfCode(secret, code, nowS);
  return step === undefined ? undefined : { secret, proven: cipher, step };
}

async function turnOn(own: Own, tx: Tx, { secret, proven, step }: Proven): Promise<Enabled> {
  const { deps, caller } = own;
  const cipher = deps.secrets.encrypt(secret, placeOf(own, 'totp_secret'));
  assertWritten(await tx.execute(enableSecret(deps.db, caller, { proven, cipher, step })));
  await tx.execute(deletePreauthTokens(deps.db, caller, caller.userId));
  const backupCodes = await replaceBackupCodes(own, tx);
  await record(own, tx, { action: 'user.two_factor_enabled', ...fromTo(false) });
  await tellOwner(own, tx, 'two_factor_enabled');
  return { ...(await beginAnew(own, tx)), backupCodes };
}

/** Takes a code of either kind. @throws ApiError two_factor_disabled, password_wrong, code_wrong, 429 */
export async function disableFactor(own: Own, password: string, code: string): Promise<SignIn> {
  const { deps, caller } = own;
  const { isRequired } = await readFactor(own);
  if (isRequired) throw new ApiError('two_factor_required', STAYS_ON);
  return withBoth(own, password, takeCode, code, async (tx, account) => {
    assertWritten(await tx.execute(disableSecret(deps.db, caller, account)));
    await tx.execute(deleteBackupCodes(deps.db, caller, caller.userId));
    await tx.execute(deletePreauthTokens(deps.db, caller, caller.userId));
    await record(own, tx, { action: 'user.two_factor_disabled', ...fromTo(true) });
    await tellOwner(own, tx, 'two_factor_disabled');
    return beginAnew(own, tx);
  });
}

const STAYS_ON = 'Your role requires two-factor authentication. It cannot be turned off.';

/** Takes the authenticator's code alone. @throws ApiError two_factor_disabled, password_wrong, code_wrong, 429 */
export async function regenerateBackupCodes(own: Own, password: string, code: string): Promise<string[]> {
  const { deps, caller } = own;
  return withBoth(own, password, takeTotpCode, code, async (tx, account) => {
    assertWritten((await tx.query(lockGuarded(deps.db, caller, account))).length);
    const backupCodes = await replaceBackupCodes(own, tx);
    await record(own, tx, { action: 'user.backup_codes_regenerated' });
    await tellOwner(own, tx, 'backup_codes_regenerated');
    return backupCodes;
  });
}

type Take = (
  deps: Own['deps'],
  tx: Tx,
  account: Account,
  code: string,
) => Promise<string | boolean | undefined>;

/** Does `work` for whoever knows the password and has a code, which is used up. */
async function withBoth<Result>(
  own: Own,
  password: string,
  take: Take,
  code: string,
  work: (tx: Tx, account: Account) => Promise<Result>,
): Promise<Result> {
  const { deps, caller } = own;
  const account = await ownAccount(own);
  if (!account.twoFactorEnabled) throw new ApiError('two_factor_disabled');
  return confirmPassword(own, account, 'password', password, (confirmed) =>
    judgeCode(own, async (tx) => {
      const taken = await tryCode(
        deps.db,
        tx,
        guesserOf(own),
        async () => (await take(deps, tx, confirmed, code)) || undefined,
      );
      const outcome = taken === undefined || taken instanceof ApiError ? taken : await work(tx, confirmed);
      // last, as everybody takes it after the user; the password was right whatever the code is
      await tx.execute(forgetFailures(deps.db, caller, passwordThrottle(account.username)));
      return outcome;
    }),
  );
}

/** Runs an attempt whose refusal is answered and not thrown, so that it is counted; then throws it. */
async function judgeCode<Result>(
  { deps, caller, address }: Own,
  judge: (tx: Tx) => Promise<Result | ApiError | undefined>,
): Promise<Result> {
  await deps.loginLimiter.assertMayTry(caller.tenantId, address);
  const outcome = await transaction(deps.db, systemOf(caller), judge);
  if (outcome instanceof ApiError) throw outcome;
  if (outcome !== undefined) return outcome;
  await deps.loginLimiter.countFailure(caller.tenantId, address);
  const message = 'code is wrong or used.';
  throw new ApiError('code_wrong', undefined, { errors: [{ field: 'code', code: 'wrong', message }] });
}

async function replaceBackupCodes({ deps: { db, secrets }, caller }: Own, tx: Tx): Promise<string[]> {
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

/** The account as it is now, and the session of its new token. */
async function beginAnew(own: Own, tx: Tx): Promise<SignIn> {
  const { deps, caller } = own;
  const [account] = await tx.query<Account>(accountById(deps.db, caller, caller.userId));
  if (!account) throw new Error('The user went missing inside its own transaction.');
  return { account, sessionId: await beginSession(tx, account, 'two_factor_change', own) };
}

function assertOff({ twoFactorEnabled }: Account): void {
  if (twoFactorEnabled) throw new ApiError('two_factor_enabled');
}

const fromTo = (wasEnabled: boolean) => ({
  before: { two_factor_enabled: wasEnabled },
  after: { two_factor_enabled: !wasEnabled },
});

const guesserOf = ({ caller, requestId }: Own) => ({ userId: caller.userId, requestId });

const placeOf = ({ caller }: Own, field: EncryptionContext['field']): EncryptionContext => ({
  tenantId: caller.tenantId,
  rowId: caller.userId,
  field,
});
