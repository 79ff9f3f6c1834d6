import type pg from 'pg';
import type { PrismaClient } from '../../../generated/prisma/client.js';
import type { ConnectionShares } from './connections/connection-shares.js';

export type Db = {
  pool: pg.Pool;
  prisma: PrismaClient;
  /** Limits the connections per courier and tenant; every transaction takes a permit. */
  connectionShares: ConnectionShares;
  /** False only in the tests that prove row-level security alone; see ownRows. */
  applicationFilters: boolean;
  /** Settings are made in each transaction and no statement is prepared, because sessions are shared. */
  isBehindPooler: boolean;
};
