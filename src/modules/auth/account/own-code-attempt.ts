import type { AttemptDeps } from '../credentials/password-attempt.js';
import { limitOf } from '../../../platform/limits/stored/login-throttle.js';
import type { Secrets } from '../../../platform/access/secrets.js';
import type { PersonContext } from '../../../platform/context/request-context.js';
import { ApiError, fieldError } from '../../../platform/errors/errors.js';
import { newId, randomText } from '../../../platform/values/ids.js';
import type { Tx } from '../../../platform/db/scope.js';
import type { Client } from '../../sessions/public.js';

/**
 * Runs an attempt that returns a rejection instead of throwing it, so that the attempt stays counted. Then
 * throws the rejection.
 * @throws ApiError code_wrong, too_many_attempts
 */
export async function runCodeAttempt<Result>(
  ctx: PersonContext,
  { loginLimiter }: AttemptDeps,
  { address }: Client,
  attempt: (tx: Tx) => Promise<Result | ApiError | undefined>,
): Promise<Result> {
  ctx.noteRateLimit(limitOf('code'));
  await loginLimiter.assertMayTry(ctx, address);
  const outcome = await ctx.asTenant().write(attempt);
  if (outcome instanceof ApiError) throw outcome;
  if (outcome !== undefined) return outcome;
  await loginLimiter.countFailure(ctx.tenantId, address);
  throw new ApiError('code_wrong', { errors: [fieldError('code', 'code_wrong')] });
}

/** Stores hashes of new backup codes in place of the user's old ones, and returns the codes. */
export async function replaceBackupCodes(
  { tenantId, caller: { userId } }: PersonContext,
  tx: Tx,
  secrets: Secrets,
): Promise<string[]> {
  const codes = newBackupCodes();
  await tx.models.backupCode.deleteMany({ where: { userId } });
  const hashes = codes.map((code) => secrets.lookupHash(code, 'backup_code'));
  await tx.models.backupCode.createMany({
    data: hashes.map((codeHash) => ({ tenantId, id: newId(), userId, codeHash })),
  });
  return codes;
}

/** Without characters that look alike in handwriting: 0 and O, 1, I and L. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTUVWXYZ';
const COUNT = 10;

/**
 * Returns ten different codes of the form XXXX-XXXX with 39 bits each. Five wrong attempts lock the user's
 * codes.
 */
function newBackupCodes(): string[] {
  const codes = new Set<string>();
  while (codes.size < COUNT) codes.add(`${newGroup()}-${newGroup()}`);
  return [...codes];
}

const newGroup = (): string => randomText(ALPHABET, 4);
