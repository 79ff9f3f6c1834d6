import type pg from 'pg';
import { selectBacklog, type BacklogRow } from './backlog-queries.js';

/** Cache lifetime: the database is queried at most once in this time, however many clients scrape. */
const CACHE_MS = 5_000;

/** Returns the latest backlog, or undefined if the database is unavailable or did not respond in time. */
export type ReadBacklog = () => Promise<BacklogRow | undefined>;

/** @param pool a separate pool, so that metrics are available when the service's pool is exhausted */
export function makeBacklogReader(pool: pg.Pool): ReadBacklog {
  let cached: Promise<BacklogRow | undefined> | undefined;
  let freshUntilMs = 0;

  return () => {
    if (cached && performance.now() < freshUntilMs) return cached;
    // Concurrent callers share the query until it completes.
    freshUntilMs = Infinity;
    cached = queryBacklog(pool).finally(() => (freshUntilMs = performance.now() + CACHE_MS));
    return cached;
  };
}

async function queryBacklog(pool: pg.Pool): Promise<BacklogRow | undefined> {
  const { text, values } = selectBacklog();
  const reply = await pool.query<BacklogRow>({ text, values }).catch(() => undefined);
  return reply?.rows[0];
}
