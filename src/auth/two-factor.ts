import { randomBytes } from 'node:crypto';
import {
  acceptTotpStep,
  accountById,
  consumeBackupCode,
  consumePreauthToken,
  deleteExpiredPreauthTokens,
  insertPreauthToken,
  type Account,
} from './queries.js';
import {
  codeThrottle,
  countAttempt,
  forgetFailures,
  lock,
  lockedOut,
  lockLeft,
  MAX_FAILURES,
} from './throttle.js';
import { stepOfCode } from './totp.js';
import { auditStatement, type AuditFact } from '../audit.js';
import { inScope, type Rows, type Tx } from '../db/transaction.js';
import type { Deps } from '../deps.js';
import { Fault } from '../errors.js';

export type CodeAttempt = {
  tenantId: string;
  preauthToken: string;
  code: string;
  address: string;
  requestId: string;
};

const TOKEN_BYTES = 32;

export const newPreauthToken = (): string => randomBytes(TOKEN_BYTES).toString('base64url');

/** Keeps the token's hash for five minutes, in the caller's transaction. */
export async function storePreauthToken(deps: Deps, tx: Tx, userId: string, token: string): Promise<void> {
  await tx.execute(deleteExpiredPreauthTokens(deps.db, tx.caller, userId));
  await tx.execute(insertPreauthToken(tx.caller, userId, deps.secrets.lookupHash(token, 'preauth_token')));
}

/**
 * Judges the second factor. The token is used up whatever comes of it.
 *
 * @throws Fault code_invalid, account_disabled, too_many_attempts
 */
export async function verifyTwoFactor(deps: Deps, attempt: CodeAttempt): Promise<Account> {
  const { tenantId, address } = attempt;
  await deps.loginGate.assertMayTry(tenantId, address);
  const outcome = await inScope(deps.db, { kind: 'system', tenantId }, (tx) => judge(deps, tx, attempt));
  if (!(outcome instanceof Fault)) return outcome;
  if (outcome.code === 'code_invalid') await deps.loginGate.countFailure(tenantId, address);
  throw outcome;
}

// Answers a refusal instead of throwing it: thrown, it would give the token back with everything else.
async function judge(deps: Deps, tx: Tx, attempt: CodeAttempt): Promise<Account | Fault> {
  const { db, secrets } = deps;
  const tokenHash = secrets.lookupHash(attempt.preauthToken, 'preauth_token');
  const [token] = await tx.query<{ userId: string }>(consumePreauthToken(db, tx.caller, tokenHash));
  if (!token) return new Fault('code_invalid');

  const throttle = codeThrottle(token.userId);
  // before the user is read: its row makes those who guess at once wait for each other
  const [counted] = await tx.query<{ failures: number }>(countAttempt(tx.caller, throttle));
  if (!counted) return lockedOut(await tx.query<Rows[number]>(lockLeft(db, tx.caller, throttle)));

  const [account] = await tx.query<Account>(accountById(db, tx.caller, token.userId));
  if (!account) return new Fault('code_invalid');
  if (!account.isEnabled) return new Fault('account_disabled');
  const factor = await takeCode(deps, tx, account, attempt.code);
  if (factor) {
    await tx.execute(forgetFailures(db, tx.caller, throttle));
    await note(tx, attempt, {
      action: 'user.logged_in',
      entityId: account.id,
      after: { second_factor: factor },
    });
    return account;
  }
  if (counted.failures >= MAX_FAILURES) {
    await tx.execute(lock(db, tx.caller, throttle));
    await note(tx, attempt, { action: 'user.locked_out', entityId: account.id });
  }
  return new Fault('code_invalid');
}

type Factor = 'totp' | 'backup_code';

/** Uses the code up and answers what kind it was, or undefined when it is not, or no longer, the user's. */
async function takeCode(deps: Deps, tx: Tx, account: Account, code: string): Promise<Factor | undefined> {
  if (!account.twoFactorEnabled) return undefined;
  const isBackupCode = /^[0-9A-Za-z]{4}-[0-9A-Za-z]{4}$/.test(code);
  if (isBackupCode) return (await takeBackupCode(deps, tx, account, code)) ? 'backup_code' : undefined;
  return (await takeTotpCode(deps, tx, account, code)) ? 'totp' : undefined;
}

async function takeBackupCode(
  { db, secrets }: Deps,
  tx: Tx,
  { id }: Account,
  code: string,
): Promise<boolean> {
  const codeHash = secrets.lookupHash(code.toUpperCase(), 'backup_code');
  return (await tx.execute(consumeBackupCode(db, tx.caller, id, codeHash))) === 1;
}

async function takeTotpCode({ db, secrets }: Deps, tx: Tx, account: Account, code: string): Promise<boolean> {
  const { id, totpSecret, nowS } = account;
  if (!totpSecret) return false;
  const secret = secrets.decrypt(totpSecret, {
    tenantId: tx.caller.tenantId,
    rowId: id,
    field: 'totp_secret',
  });
  const step = stepOfCode(secret, code, nowS);
  return step !== undefined && (await tx.execute(acceptTotpStep(db, tx.caller, id, step))) === 1;
}

type Note = Pick<AuditFact, 'action' | 'entityId' | 'after'>;

async function note(tx: Tx, { requestId }: CodeAttempt, fact: Note): Promise<void> {
  await tx.execute(auditStatement(tx.caller, requestId, [{ ...fact, entity: 'user' }]));
}
