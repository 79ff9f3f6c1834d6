import bcrypt from 'bcrypt';
import type { SystemCaller } from './callers.js';
import { BCRYPT_COST, isHashable } from './passwords.js';
import { accountById, accountByName, type Account } from './queries.js';
import {
  assertUnlocked,
  countAttempt,
  forgetFailures,
  lock,
  lockedOut,
  lockLeft,
  MAX_FAILURES,
  passwordThrottle,
} from './throttle.js';
import { newPreauthToken, storePreauthToken } from './two-factor.js';
import { auditStatement } from '../audit.js';
import { flushInScope, inScope, type Tx } from '../db/transaction.js';
import type { Deps } from '../deps.js';
import { Fault, type FieldError } from '../errors.js';

export type LoginAttempt = {
  tenantId: string;
  username: string | undefined;
  password: string | undefined;
  address: string;
  requestId: string;
};

/** Signed in, or half way there: a token to send with the second factor. */
export type LoginOutcome = { account: Account } | { preauthToken: string };

type Credentials = LoginAttempt & { username: string; password: string };

/**
 * Judges a user name and a password. Who does not know the password learns nothing of the user: not whether
 * there is one, not whether it is disabled, by neither the words nor the time of the answer.
 *
 * @throws Fault credentials_required, credentials_invalid, account_disabled, too_many_attempts, overloaded
 */
export async function logIn(deps: Deps, attempt: LoginAttempt): Promise<LoginOutcome> {
  const credentials = requireCredentials(attempt);
  const { tenantId, username, address } = credentials;
  await deps.loginGate.assertMayTry(tenantId, address);
  // asked before the queue, where a flood on a locked name would stand in others' way
  await assertUnlocked(deps.db, callerOf(credentials), passwordThrottle(username));
  return deps.loginGate.inTurn(tenantId, username, () => tryPassword(deps, credentials));
}

function requireCredentials(attempt: LoginAttempt): Credentials {
  const { username = '', password = '' } = attempt;
  const given = Object.entries({ username, password });
  const errors = given.filter(([, value]) => value.trim() === '').map(([field]) => requiredField(field));
  if (errors.length > 0) throw new Fault('credentials_required', undefined, { errors });
  return { ...attempt, username, password };
}

const requiredField = (field: string): FieldError => ({
  field,
  code: 'required',
  message: `${field} must not be absent or blank.`,
});

async function tryPassword(deps: Deps, credentials: Credentials): Promise<LoginOutcome> {
  // again, because those before it in the queue may have used up what the address had left
  await deps.loginGate.assertMayTry(credentials.tenantId, credentials.address);
  const { failures, account } = await beginAttempt(deps, credentials);
  const isRight = await matches(credentials.password, account?.passwordHash);
  if (account && isRight) return enter(deps, credentials, account);

  await deps.loginGate.countFailure(credentials.tenantId, credentials.address);
  if (failures >= MAX_FAILURES) await lockOut(deps, credentials, account);
  throw new Fault('credentials_invalid');
}

/** Counts the attempt and looks the user up, in one short transaction that ends before the hash begins. */
async function beginAttempt(
  { db }: Deps,
  credentials: Credentials,
): Promise<{ failures: number; account: Account | undefined }> {
  const caller = callerOf(credentials);
  const throttle = passwordThrottle(credentials.username);
  const [counted, left, accounts] = await flushInScope(db, caller, [
    countAttempt(caller, throttle),
    lockLeft(db, caller, throttle),
    accountByName(db, caller, credentials.username),
  ]);
  if (!counted?.[0]) throw lockedOut(left ?? []);
  // as: the shape that accountByName selects
  return { failures: Number(counted[0]['failures']), account: accounts?.[0] as Account | undefined };
}

// Well-formed, and the hash of no known password: comparing with it takes the time of a real one.
const NOBODYS_HASH = `$2b$${BCRYPT_COST}$${'.'.repeat(53)}`;

async function matches(password: string, hash: string | undefined): Promise<boolean> {
  const canMatch = hash !== undefined && isHashable(password);
  const isSame = await bcrypt.compare(canMatch ? password : '', canMatch ? hash : NOBODYS_HASH);
  return canMatch && isSame;
}

/** The same statements for an unknown name, which has nothing that a fact could be noted of. */
async function lockOut({ db }: Deps, credentials: Credentials, account: Account | undefined): Promise<void> {
  const caller = callerOf(credentials);
  const facts = account ? [{ action: 'user.locked_out', entity: 'user' as const, entityId: account.id }] : [];
  await flushInScope(db, caller, [
    lock(db, caller, passwordThrottle(credentials.username)),
    auditStatement(caller, credentials.requestId, facts),
  ]);
}

async function enter(deps: Deps, credentials: Credentials, account: Account): Promise<LoginOutcome> {
  const preauthToken = newPreauthToken();
  const outcome = await inScope(deps.db, callerOf(credentials), async (tx) => {
    // read again: a hash takes long enough for the user to be disabled, or to change the password
    const [fresh] = await tx.query<Account>(accountById(deps.db, tx.caller, account.id));
    if (fresh?.passwordHash !== account.passwordHash) return new Fault('credentials_invalid');
    await tx.execute(forgetFailures(deps.db, tx.caller, passwordThrottle(credentials.username)));
    if (!fresh.isEnabled) return new Fault('account_disabled');
    if (!fresh.twoFactorEnabled) return noteLogin(tx, credentials, fresh);
    await storePreauthToken(deps, tx, fresh.id, preauthToken);
    return { preauthToken };
  });
  // thrown only now: inside, it would take back that the failures are forgotten
  if (outcome instanceof Fault) throw outcome;
  return outcome;
}

async function noteLogin(tx: Tx, { requestId }: Credentials, account: Account): Promise<LoginOutcome> {
  const fact = { action: 'user.logged_in', entity: 'user' as const, entityId: account.id };
  await tx.execute(auditStatement(tx.caller, requestId, [fact]));
  return { account };
}

const callerOf = ({ tenantId }: { tenantId: string }): SystemCaller => ({ kind: 'system', tenantId });
