import type pg from 'pg';
import type { PrismaClient } from '../../../generated/prisma/client.js';
import type { ConnectionShares } from './connections/connection-shares.js';

export type Db = {
  pool: pg.Pool;
  prisma: PrismaClient;
  /** Who may have how many of the pool's connections; every transaction asks. */
  connectionShares: ConnectionShares;
  /** False only in the tests that prove row-level security alone; see ownRows. */
  applicationFilters: boolean;
  /** Nothing outlives a transaction: settings are made in each, and no statement is prepared. */
  isBehindPooler: boolean;
};
