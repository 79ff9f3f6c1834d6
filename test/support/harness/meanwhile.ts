import type pg from 'pg';
import { until } from '../service/processes.js';

/**
 * Runs `work` in a race with a change of rows. Changes the rows in an open transaction, starts `work`, waits until
 * PostgreSQL blocks it on these rows, and then commits. So `work` reads the old rows and continues with the new ones.
 *
 * @throws if `work` ends without waiting
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
    // Closing the connection ends the transaction if it is still open.
    client.release(true);
  }
}

/** Returns whether a session waits for a lock of the client's. */
export async function isWaitedFor(owner: pg.Pool, client: pg.PoolClient): Promise<boolean> {
  // node-postgres knows the process id of its backend but does not declare the property.
  const { processID } = client as unknown as { processID: number };
  const { rows } = await owner.query(
    'select from pg_stat_activity where datname = current_database() and $1 = any(pg_blocking_pids(pid))',
    [processID],
  );
  return rows.length > 0;
}

type Unwritable = {
  table: string;
  /** How many sessions must wait for locks before the table is free again. */
  waiting: number;
  /** What is done before that. */
  beforeRelease?: () => Promise<void>;
};

/** Runs work whose writes to a table wait for each other's, so that all have read before one has written. Returns its result. */
export async function whileUnwritable<Result>(
  owner: pg.Pool,
  { table, waiting, beforeRelease }: Unwritable,
  work: () => Promise<Result>,
): Promise<Result> {
  const client = await owner.connect();
  try {
    await client.query(`begin; lock table ${table} in share row exclusive mode`);
    const state = { hasEnded: false };
    const pending = work().finally(() => (state.hasEnded = true));
    await until(async () => state.hasEnded || (await countWaiting(owner)) >= waiting);
    if (state.hasEnded) throw new Error(`The work ended without waiting for ${table}.`);
    await beforeRelease?.();
    await client.query('rollback');
    return await pending;
  } finally {
    // Closing the connection ends the transaction if it is still open.
    client.release(true);
  }
}

/** The number of sessions that wait for a lock. */
export async function countWaiting(owner: pg.Pool): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}
