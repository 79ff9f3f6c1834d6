import { findPending } from '../../platform/db/migrations/history.js';
import type { Db } from '../../platform/db/database.js';
import { REASONS } from '../../platform/db/health.js';
import { meaningOfError } from '../../platform/db/violations.js';
import { ApiError } from '../../platform/errors/errors.js';

/**
 * Time to cache the result in. The operation is public and unlimited, and each check takes a database
 * connection.
 */
const CACHE_MS = 1_000;

/**
 * Returns a check that succeeds if the database responds, stores data and has every migration of this build.
 * @param migrations the names of the migrations, read once at startup
 */
export function makeReadiness({ pool, health }: Db, migrations: string[]): () => Promise<void> {
  let pending: Promise<string[]> | undefined;
  let cachedUntilMs = 0;

  /** @throws ApiError unavailable */
  return async () => {
    if (!pending || performance.now() > cachedUntilMs) {
      // Until the query returns, concurrent requests share it.
      cachedUntilMs = Infinity;
      pending = findPending(pool, migrations).finally(() => (cachedUntilMs = performance.now() + CACHE_MS));
    }
    const found = await pending.catch((error: unknown) => {
      // The pool refuses a standby.
      if (meaningOfError(error) !== 'read_only') throw error;
      health.note(error);
      return [];
    });
    if (found.length > 0)
      throw new ApiError('unavailable', { variant: 'not_migrated', retryAfterSeconds: 5 });
    const failure = await health.findWriteFailure();
    if (failure)
      throw new ApiError('unavailable', {
        variant: 'not_writable',
        args: { reason: REASONS[failure] },
        retryAfterSeconds: 10,
      });
  };
}
