import type { Logger } from 'pino';
import { findPending } from '../../platform/db/migrations/history.js';
import type { Db } from '../../platform/db/database.js';
import { REASONS, type WriteFailure } from '../../platform/db/health.js';
import { apiErrorOfViolation, meaningOfError, sqlStateOf } from '../../platform/db/violations.js';
import { ApiError } from '../../platform/errors/errors.js';
import { recordOutages } from '../../platform/logging/outages.js';

/**
 * Time to cache the result in. The operation is public and unlimited, and each check takes a database
 * connection.
 */
const CACHE_MS = 1_000;

export type ReadinessLog = Pick<Logger, 'info' | 'error'>;

/**
 * Returns a check that succeeds if the database responds, stores data and has every migration of this build. The log has a line for
 * each change of the result.
 *
 * @param migrations the names of the migrations, read once at startup
 */
export function makeReadiness(db: Db, migrations: string[], log: ReadinessLog): () => Promise<void> {
  const check = makeCheck(db, migrations);
  const record = makeRecord(log);

  /** @throws ApiError unavailable, which the log has already */
  return async () => {
    const found = await check();
    record(found);
    if (found) throw found.error;
  };
}

/** Why the server is not ready. The cause is for the log: it may name a host. */
type Unready = { error: ApiError; reason: string; cause?: string };

/** Returns a function that finds out why the server is not ready. It returns undefined if it is. */
function makeCheck({ pool, health }: Db, migrations: string[]): () => Promise<Unready | undefined> {
  let pending: Promise<string[]> | undefined;
  let cachedUntilMs = 0;

  return async () => {
    if (!pending || performance.now() > cachedUntilMs) {
      // Until the query returns, concurrent requests share it.
      cachedUntilMs = Infinity;
      pending = findPending(pool, migrations).finally(() => (cachedUntilMs = performance.now() + CACHE_MS));
    }
    const found = await pending.catch((error: unknown) => {
      // The pool refuses a standby.
      if (meaningOfError(error) !== 'read_only') return describeAway(error);
      health.note(error);
      return [];
    });
    if (!Array.isArray(found)) return found;
    if (found.length > 0) return NOT_MIGRATED;
    const failure = await health.findWriteFailure();
    return failure && describeFailure(failure);
  };
}

const NOT_MIGRATED: Unready = {
  error: new ApiError('unavailable', { variant: 'not_migrated', retryAfterSeconds: 5, isLogged: true }),
  reason: 'not_migrated',
};

const describeFailure = (failure: WriteFailure): Unready => ({
  error: new ApiError('unavailable', {
    variant: 'not_writable',
    args: { reason: REASONS[failure] },
    retryAfterSeconds: 10,
    isLogged: true,
  }),
  reason: failure,
});

/** @throws the error if it does not mean that the database is away */
function describeAway(error: unknown): Unready {
  const failure = apiErrorOfViolation(error);
  if (failure?.code !== 'unavailable') throw error;
  const { retryAfterSeconds = 1 } = failure.detail;
  return {
    error: new ApiError('unavailable', { variant: 'not_responding', retryAfterSeconds, isLogged: true }),
    reason: 'not_responding',
    // An error of several addresses has only a code.
    cause: (error instanceof Error && error.message) || (sqlStateOf(error) ?? 'unknown'),
  };
}

/** Without a stack. Load balancers ask each second. */
const makeRecord = (log: ReadinessLog): ((found: Unready | undefined) => void) =>
  recordOutages<Unready>({
    failed: ({ reason, cause }, checks) => log.error({ reason, cause, checks }, 'the server is not ready'),
    ended: () => log.info('the server is ready again'),
  });
