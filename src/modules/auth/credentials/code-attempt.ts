import { acceptTotpStep, consumeBackupCode, type Account } from './account-queries.js';
import {
  auditLockOut,
  codeThrottle,
  countAttempt,
  resetFailures,
  lock,
  lockedOutError,
  lockLeft,
  MAX_FAILURES,
} from '../../../platform/limits/stored/login-throttle.js';
import { stepOfCode } from './totp.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import { ApiError } from '../../../platform/errors/errors.js';
import type { Tx } from '../../../platform/db/scope.js';

/**
 * Counts an attempt at a user's second factor, then runs `verify`, which returns undefined for a wrong code.
 * A correct code resets the count. Attempts of all operations count together. Rejections are returned, not
 * thrown, here and in `verify`: a thrown error would roll back the count.
 */
export async function tryCode<Found>(
  tx: Tx,
  userId: string,
  verify: () => Promise<Found | ApiError | undefined>,
): Promise<Found | ApiError | undefined> {
  const throttle = codeThrottle(userId);
  // Counted before the user is read: the lock of the throttle's row serializes concurrent attempts.
  const [counted] = await tx.query(countAttempt(tx, throttle));
  if (!counted) return lockedOutError(throttle, await tx.query(lockLeft(tx, throttle)));
  const found = await verify();
  if (found instanceof ApiError) return found;
  if (found !== undefined) {
    await tx.count(resetFailures(tx, throttle));
  } else if (counted.failures >= MAX_FAILURES) {
    await tx.count(lock(tx, throttle));
    await tx.count(auditLockOut(tx, userId));
  }
  return found;
}

export type Factor = 'totp' | 'backup_code';

/** A code that a client sent for an account. */
export type SentCode = { account: Account; code: string };

/** Uses up the code and returns its kind, or undefined if it is wrong or already used. */
export async function verifyCode(tx: Tx, secrets: Secrets, sent: SentCode): Promise<Factor | undefined> {
  const { account, code } = sent;
  if (!account.twoFactorEnabled) return undefined;
  const isBackupCode = /^[0-9A-Za-z]{4}-[0-9A-Za-z]{4}$/.test(code);
  if (isBackupCode) return (await verifyBackupCode(tx, secrets, sent)) ? 'backup_code' : undefined;
  return (await verifyTotpCode(tx, secrets, sent)) ? 'totp' : undefined;
}

async function verifyBackupCode(tx: Tx, secrets: Secrets, { account, code }: SentCode): Promise<boolean> {
  const codeHash = secrets.lookupHash(code.toUpperCase(), 'backup_code');
  return (await tx.count(consumeBackupCode(tx, account.id, codeHash))) === 1;
}

export async function verifyTotpCode(
  tx: Tx,
  secrets: Secrets,
  { account, code }: SentCode,
): Promise<boolean> {
  const { id, totpSecret, nowS } = account;
  if (!account.twoFactorEnabled || !totpSecret) return false;
  const secret = secrets.decrypt(totpSecret, { tenantId: tx.tenantId, rowId: id, field: 'totp_secret' });
  const step = stepOfCode(secret, code, nowS);
  return step !== undefined && (await tx.count(acceptTotpStep(tx, id, step))) === 1;
}
