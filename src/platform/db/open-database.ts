import type pg from 'pg';
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../../generated/prisma/client.js';
import { createPool, type PoolOptions } from './connections/pool.js';
import { makeConnectionShares } from './connections/connection-shares.js';
import type { Db } from './database.js';
import { TracedPrismaPg, type ModelSpans } from './models/traced-adapter.js';

export type DbOptions = PoolOptions & { isTraced?: boolean };

/** Opens the database with one pool, which scoped SQL statements and Prisma share. */
export function openDb(options: DbOptions): Db & { close(): Promise<void> } {
  const pool = createPool(options);
  const modelSpans: ModelSpans | undefined = options.isTraced ? new Map() : undefined;
  const adapter = modelSpans ? new TracedPrismaPg(pool, modelSpans) : new PrismaPg(pool);
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
  return {
    pool,
    prisma,
    connectionShares: makeConnectionShares({ size: options.size, countTenants: () => countTenants(pool) }),
    applicationFilters: true,
    isBehindPooler: options.isBehindPooler ?? false,
    modelSpans,
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

async function countTenants(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::int as count from all_tenants()');
  return rows[0]?.count ?? 0;
}
