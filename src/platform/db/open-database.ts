import type pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../generated/prisma/client.js';
import { createPool, type PoolOptions } from './connections/pool.js';
import { makeConnectionShares } from './connections/connection-shares.js';
import { isAway } from './violations.js';
import { watchHealth } from './health.js';
import { openReplica, type ReplicaOptions } from './connections/replica.js';
import type { Db } from './database.js';
import { TracedPrismaPg, type ModelSpans } from './models/traced-adapter.js';

export type DbOptions = PoolOptions & {
  isTraced?: boolean;
  /** A standby that serves reports. Its connections assume the same role. */
  replica?: Pick<ReplicaOptions, 'url' | 'maxLagMs' | 'onChange'> | undefined;
};

/** Opens the database with one pool, which scoped SQL statements and Prisma share. */
export function openDb(options: DbOptions): Db & { close(): Promise<void> } {
  const pool = createPool(options);
  const modelSpans: ModelSpans | undefined = options.isTraced ? new Map() : undefined;
  const adapter = modelSpans ? new TracedPrismaPg(pool, modelSpans) : new PrismaPg(pool);
  let prisma: PrismaClient | undefined;
  const { size, assumeRole } = options;
  const shares = { size, countTenants: () => countTenants(pool), isAway };
  const replica =
    options.replica && openReplica({ ...shares, ...(assumeRole ? { assumeRole } : {}), ...options.replica });
  return {
    pool,
    // Created on first use: it takes 20 ms, and a process that only runs jobs may never need it.
    get prisma() {
      prisma ??= new PrismaClient({ adapter, errorFormat: 'minimal' });
      return prisma;
    },
    replica,
    health: watchHealth(pool),
    connectionShares: makeConnectionShares(shares),
    applicationFilters: true,
    isBehindPooler: options.isBehindPooler ?? false,
    modelSpans,
    async close() {
      await prisma?.$disconnect();
      await Promise.all([pool.end(), replica?.close()]);
    },
  };
}

async function countTenants(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from all_tenants()');
  return rows[0]?.count ?? 0;
}
