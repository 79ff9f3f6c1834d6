import type pg from 'pg';
import { createPool, type PoolOptions } from './connections/pool.js';
import { makeConnectionShares } from '../limits/connection-shares.js';
import { isAway } from './violations.js';
import { watchHealth } from './health.js';
import { openReplica, type ReplicaOptions } from './connections/replica.js';
import type { Db } from './database.js';
import { makeModelClients } from './models/model-clients.js';

export type DbOptions = PoolOptions & {
  /** A standby that serves reports. Its connections assume the same role. */
  replica?: Pick<ReplicaOptions, 'url' | 'maxLagMs' | 'onChange'> | undefined;
};

/** Opens the database with one pool, whose transactions run SQL statements and Prisma's models. */
export function openDb(options: DbOptions): Db & { close(): Promise<void> } {
  const pool = createPool(options);
  const models = makeModelClients();
  const { size, assumeRole } = options;
  const shares = { size, countTenants: () => countTenants(pool), isAway };
  const replica =
    options.replica && openReplica({ ...shares, ...(assumeRole ? { assumeRole } : {}), ...options.replica });
  return {
    pool,
    models,
    replica,
    health: watchHealth(pool),
    connectionShares: makeConnectionShares(shares),
    applicationFilters: true,
    isBehindPooler: options.isBehindPooler ?? false,
    async close() {
      await models.close();
      await Promise.all([pool.end(), replica?.close()]);
    },
  };
}

async function countTenants(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from all_tenants()');
  return rows[0]?.count ?? 0;
}
