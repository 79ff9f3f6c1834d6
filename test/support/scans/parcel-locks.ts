import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { isWaitedFor } from '../harness/meanwhile.js';

const PARCELS = `parcels ${DEMO.tenants.demo}`;

/** Returns new numbers, one for each parcel lock of a range, in the order of the locks. */
export async function numbersWithLocks(owner: pg.Pool, from: number, to: number): Promise<string[]> {
  const prefix = `LOCK-${randomUUID().slice(0, 8).toUpperCase()}`;
  const { rows } = await owner.query<{ number: string }>(
    `select distinct on (hashtext(number) & 127) number from (select $1 || '-' || n as number from generate_series(1, 4000) n) as numbers
     where hashtext(number) & 127 >= $2 and hashtext(number) & 127 < $3 order by hashtext(number) & 127`,
    [prefix, from, to],
  );
  if (rows.length !== to - from) throw new Error('Too few numbers were tried.');
  return rows.map(({ number }) => number);
}

export type HeldParcel = {
  /** Whether a transaction of the service waits for the lock. */
  isAwaited(): Promise<boolean>;
  /** Cancels the statements that wait for it. */
  cancelWaiting(): Promise<void>;
  free(): Promise<void>;
};

/** Takes the lock of a parcel until it is freed. */
export async function holdParcel(owner: pg.Pool, number: string): Promise<HeldParcel> {
  const client = await owner.connect();
  await client.query('begin');
  await client.query('select pg_advisory_xact_lock(hashtext($1), hashtext($2) & 127)', [PARCELS, number]);
  let ended: Promise<void> | undefined;
  return {
    isAwaited: () => isWaitedFor(owner, client),
    async cancelWaiting() {
      await owner.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
         where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`,
      );
    },
    free: () => (ended ??= client.query('rollback').then(() => client.release())),
  };
}
