import type pg from 'pg';
import { selectBacklog, type BacklogRow } from './backlog-queries.js';

/** How long an answer serves: however many scrape, the database is asked once in this time. */
const CACHE_MS = 5_000;

/** Answers what waits, as the database last told it; undefined when it is away or did not answer in time. */
export type ReadBacklog = () => Promise<BacklogRow | undefined>;

/** @param pool of its own: scrapes must not wait for the connections whose lack they are to show */
export function makeBacklogReader(pool: pg.Pool): ReadBacklog {
  let cached: Promise<BacklogRow | undefined> | undefined;
  let freshUntilMs = 0;

  return () => {
    if (cached && performance.now() < freshUntilMs) return cached;
    // until it is there, all who ask wait for the same
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
