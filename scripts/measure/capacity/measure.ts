import pg from 'pg';
import { openDb } from '../../../src/platform/db/open-database.js';
import { APP_ROLE } from '../../../src/platform/db/connections/roles.js';
import type { Db } from '../../../src/platform/db/database.js';
import { processCpuMs } from '../rig/cpu.js';

/** The service's database access with a single connection, and what that connection costs PostgreSQL. */
export type MeasuredDb = {
  db: Db;
  ownerUrl: string;
  owner: pg.Client;
  /** Returns the cost per item of `run`, which returns its number of items. */
  costOf(run: () => Promise<number>): Promise<Cost>;
  close(): Promise<void>;
};

/** `buffers` are pages of 8 KiB, in memory or not. The CPU time is undefined where /proc does not show it. */
export type Cost = { buffers: number; cpuUs: number | undefined };

export async function openMeasuredDb(ownerUrl: string): Promise<MeasuredDb> {
  const db = openDb({ url: ownerUrl, size: 1, assumeRole: APP_ROLE, onError: () => undefined });
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  const readBuffers = async () => {
    // The connection reports its counters now instead of up to a second later.
    await db.pool.query('select pg_stat_force_next_flush()');
    const found = await owner.query<{ buffers: string }>(
      'select blks_hit + blks_read as buffers from pg_stat_database where datname = current_database()',
    );
    return Number(found.rows[0]?.buffers);
  };
  return {
    db,
    ownerUrl,
    owner,
    async costOf(run) {
      const buffersBefore = await readBuffers();
      // Read each time, because the pool replaces a connection that was idle for long.
      const { rows } = await db.pool.query<{ pid: number }>('select pg_backend_pid() as pid');
      const pid = rows[0]?.pid ?? 0;
      const cpuBefore = processCpuMs(pid);
      const items = await run();
      const cpuAfter = processCpuMs(pid);
      const cpuMs = cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore;
      return {
        buffers: ((await readBuffers()) - buffersBefore) / items,
        cpuUs: cpuMs && (cpuMs * 1000) / items,
      };
    },
    async close() {
      await db.close();
      await owner.end();
    },
  };
}

/** Returns the lowest costs of several rounds, because other processes of the server can only add to them. */
export async function lowestCost(rounds: number, measureRound: () => Promise<Cost>): Promise<Cost> {
  const costs: Cost[] = [];
  for (let round = 0; round < rounds; round += 1) costs.push(await measureRound());
  const times = costs.map(({ cpuUs }) => cpuUs).filter((each) => each !== undefined);
  return {
    buffers: Math.min(...costs.map(({ buffers }) => buffers)),
    cpuUs: times.length > 0 ? Math.min(...times) : undefined,
  };
}
