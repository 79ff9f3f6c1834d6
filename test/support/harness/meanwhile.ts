import type pg from 'pg';
import { until } from '../service/processes.js';

/**
 * Changes rows in a transaction that stays open, starts `work`, waits until PostgreSQL makes it wait for these rows,
 * and only then commits: `work` has read what was there before, and goes on with what is there now.
 *
 * @throws when `work` ends without waiting
 */
export async function changeMeanwhile<Result>(
  owner: pg.Pool,
  change: { text: string; values: unknown[] },
  work: () => Promise<Result>,
): Promise<Result> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    const { rowCount } = await client.query(change);
    if (!rowCount) throw new Error(`Nothing was changed by: ${change.text}`);
    const state = { hasEnded: false };
    const pending = work().finally(() => (state.hasEnded = true));
    await until(async () => state.hasEnded || (await isWaitedFor(owner, client)));
    if (state.hasEnded) throw new Error('The work ended without waiting for the change.');
    await client.query('commit');
    return await pending;
  } finally {
    // ends the transaction if it is still open
    client.release(true);
  }
}

async function isWaitedFor(owner: pg.Pool, client: pg.PoolClient): Promise<boolean> {
  // node-postgres has the process id of its backend, and does not declare it
  const { processID } = client as unknown as { processID: number };
  const { rows } = await owner.query(
    'select from pg_stat_activity where datname = current_database() and $1 = any(pg_blocking_pids(pid))',
    [processID],
  );
  return rows.length > 0;
}
