import type pg from 'pg';
import { createPool, type PoolOptions } from './connections/pool.js';
import { APP_ROLE } from './connections/roles.js';
import { readValue } from './connections/rows.js';
import { makeConnectionShares } from '../limits/connection-shares.js';
import { isAway } from './violations.js';
import { watchHealth, type SharedWriteState } from './health.js';
import { openReplica, type ReplicaOptions } from './connections/replica.js';
import type { Db } from './database.js';
import { makeModelClients } from './models/model-clients.js';

export type DbOptions = PoolOptions & {
  /** A standby that serves reports. Its connections assume the same role. */
  replica?: Pick<ReplicaOptions, 'url' | 'maxLagMs' | 'onChange'> | undefined;
  /** Whether it serves requests, which are refused soon while their queue stands (decision 0107). */
  shedsLoad?: boolean;
  /** What the processes of a server tell each other about the database. */
  writeState?: SharedWriteState | undefined;
};

/** Opens the database with one pool, whose transactions run SQL statements and Prisma's models. */
export function openDb(options: DbOptions): Db & { close(): Promise<void> } {
  const pool = createPool(options);
  const models = makeModelClients();
  const { size, assumeRole, shedsLoad } = options;
  const shares = { size, countTenants: () => countTenants(pool), isAway };
  const replica =
    options.replica && openReplica({ ...shares, ...(assumeRole ? { assumeRole } : {}), ...options.replica });
  return {
    pool,
    models,
    replica,
    health: watchHealth(pool, options.writeState),
    connectionShares: makeConnectionShares({ ...shares, shedsLoad }),
    applicationFilters: true,
    isBehindPooler: options.isBehindPooler ?? false,
    async close() {
      await models.close();
      await Promise.all([pool.end(), replica?.close()]);
    },
  };
}

/** Runs `work` with the rights of the service, for a command that has the URL of the owner. */
export async function withServiceRole<Result>(
  url: string,
  work: (db: Db) => Promise<Result>,
): Promise<Result> {
  const db = openDb({ url, size: 1, assumeRole: APP_ROLE, onError: () => undefined });
  try {
    return await work(db);
  } finally {
    await db.close();
  }
}

const countTenants = (pool: pg.Pool): Promise<number> => readValue(pool, 'select count_live_tenants()');
