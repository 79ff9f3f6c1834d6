import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

export type LockLimits = {
  /** How long a migration waits for one lock. The requests of running servers queue behind it for this time. */
  lockTimeoutMs: number;
  /** How long all attempts may take together. */
  giveUpAfterMs: number;
  /** The longest pause between two attempts. */
  maxPauseMs: number;
};

// A request waits at most two seconds for a connection. A pause lets the requests that have queued pass.
export const LOCK_LIMITS: LockLimits = { lockTimeoutMs: 1_000, giveUpAfterMs: 300_000, maxPauseMs: 3_000 };

/** PostgreSQL's codes for a lock timeout and a deadlock. */
const LOCK_FAILURES = ['55P03', '40P01'];

/**
 * Runs `work` in a transaction in which waiting for a lock is limited, and repeats it until no lock is missing.
 *
 * @param onWait called before each repetition
 * @throws the error of PostgreSQL if another one occurs, or the time is over; the transaction is rolled back
 */
export async function inTransactionWithLocks(
  client: pg.ClientBase,
  { lockTimeoutMs, giveUpAfterMs, maxPauseMs }: LockLimits,
  work: () => Promise<void>,
  onWait: () => void,
): Promise<void> {
  const deadlineMs = performance.now() + giveUpAfterMs;
  for (;;) {
    try {
      await client.query(`begin; set local lock_timeout = ${lockTimeoutMs}`);
      await work();
      await client.query('commit');
      return;
    } catch (error) {
      await client.query('rollback');
      if (!isLockFailure(error) || performance.now() > deadlineMs) throw error;
      onWait();
      await sleep(maxPauseMs * (0.25 + 0.75 * Math.random()));
    }
  }
}

const isLockFailure = (error: unknown): boolean =>
  error instanceof Error && LOCK_FAILURES.includes(String(Reflect.get(error, 'code')));
