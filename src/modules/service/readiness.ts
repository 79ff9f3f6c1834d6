import { findPending } from '../../platform/db/migrations/migrate.js';
import type { Db } from '../../platform/db/transaction.js';
import { ApiError } from '../../platform/errors/errors.js';

/** How long an answer counts: anybody may ask, as often as they like, and each question took a connection. */
const KEPT_MS = 1_000;

/**
 * Ready means: the database answers, and has every migration that this build knows.
 *
 * @param migrations their names, read once at the start
 */
export function makeReadiness({ pool }: Db, migrations: string[]): () => Promise<void> {
  let pending: Promise<string[]> | undefined;
  let keptUntilMs = 0;

  /** @throws ApiError unavailable */
  return async () => {
    if (!pending || performance.now() > keptUntilMs) {
      // until it has answered, everybody waits for the same question
      keptUntilMs = Infinity;
      pending = findPending(pool, migrations).finally(() => (keptUntilMs = performance.now() + KEPT_MS));
    }
    const found = await pending;
    if (found.length > 0)
      throw new ApiError('unavailable', { variant: 'not_migrated', retryAfterSeconds: 5 });
  };
}
