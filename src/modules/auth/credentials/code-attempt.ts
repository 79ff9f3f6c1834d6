import { acceptTotpStep, consumeBackupCode, type Account } from './account-queries.js';
import {
  codeThrottle,
  countAttempt,
  resetFailures,
  lock,
  lockedOutError,
  lockLeft,
  MAX_FAILURES,
} from './throttle.js';
import { stepOfCode } from './totp.js';
import { auditStatement } from '../../../platform/audit/audit.js';
import type { Db, Rows, Tx } from '../../../platform/db/transaction.js';
import type { Deps } from '../../dependencies.js';
import { ApiError } from '../../../platform/errors/errors.js';

type CodeUser = { userId: string; requestId: string };

/**
 * Counts an attempt at a user's second factor, then runs `verify`, which returns undefined for a wrong code.
 * A correct code resets the count. Attempts of all operations count together. Rejections are returned, not
 * thrown, here and in `verify`: a thrown error would roll back the count.
 */
export async function tryCode<Found>(
  db: Db,
  tx: Tx,
  { userId, requestId }: CodeUser,
  verify: () => Promise<Found | ApiError | undefined>,
): Promise<Found | ApiError | undefined> {
  const throttle = codeThrottle(userId);
  // Counted before the user is read: the lock of the throttle's row serializes concurrent attempts.
  const [counted] = await tx.query<{ failures: number }>(countAttempt(tx.caller, throttle));
  if (!counted) return lockedOutError(await tx.query<Rows[number]>(lockLeft(db, tx.caller, throttle)));
  const found = await verify();
  if (found instanceof ApiError) return found;
  if (found !== undefined) {
    await tx.execute(resetFailures(db, tx.caller, throttle));
  } else if (counted.failures >= MAX_FAILURES) {
    await tx.execute(lock(db, tx.caller, throttle));
    const fact = { action: 'user.locked_out', entity: 'user' as const, entityId: userId };
    await tx.execute(auditStatement(tx.caller, requestId, [fact]));
  }
  return found;
}

export type Factor = 'totp' | 'backup_code';

/** Uses up the code and returns its kind, or undefined if it is wrong or already used. */
export async function verifyCode(
  deps: Deps,
  tx: Tx,
  account: Account,
  code: string,
): Promise<Factor | undefined> {
  if (!account.twoFactorEnabled) return undefined;
  const isBackupCode = /^[0-9A-Za-z]{4}-[0-9A-Za-z]{4}$/.test(code);
  if (isBackupCode) return (await verifyBackupCode(deps, tx, account, code)) ? 'backup_code' : undefined;
  return (await verifyTotpCode(deps, tx, account, code)) ? 'totp' : undefined;
}

async function verifyBackupCode(
  { db, secrets }: Deps,
  tx: Tx,
  { id }: Account,
  code: string,
): Promise<boolean> {
  const codeHash = secrets.lookupHash(code.toUpperCase(), 'backup_code');
  return (await tx.execute(consumeBackupCode(db, tx.caller, id, codeHash))) === 1;
}

export async function verifyTotpCode(
  { db, secrets }: Deps,
  tx: Tx,
  account: Account,
  code: string,
): Promise<boolean> {
  const { id, totpSecret, nowS } = account;
  if (!account.twoFactorEnabled || !totpSecret) return false;
  const secret = secrets.decrypt(totpSecret, {
    tenantId: tx.caller.tenantId,
    rowId: id,
    field: 'totp_secret',
  });
  const step = stepOfCode(secret, code, nowS);
  return step !== undefined && (await tx.execute(acceptTotpStep(db, tx.caller, id, step))) === 1;
}
