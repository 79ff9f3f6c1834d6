import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../../generated/prisma/client.js';
import { createPool, type PoolOptions } from './pool.js';
import type { Db } from './transaction.js';

/** One pool for the scoped statements and for Prisma. */
export function openDb(options: PoolOptions): Db & { close(): Promise<void> } {
  const pool = createPool(options);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: 'minimal' });
  return {
    pool,
    prisma,
    applicationFilters: true,
    isBehindPooler: options.isBehindPooler ?? false,
    async close() {
      await prisma.$disconnect();
      await pool.end();
    },
  };
}
