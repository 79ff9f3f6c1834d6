import type pg from 'pg';
import type { ModelClients } from './models/model-clients.js';
import type { Span } from '../tracing/span.js';
import type { ConnectionShares } from '../limits/connection-shares.js';
import type { DatabaseHealth } from './health.js';
import { readValues } from './connections/rows.js';
import type { Replica } from './connections/replica.js';
import type { SystemCaller } from '../identity/callers.js';

export type Db = {
  pool: pg.Pool;
  /** Prisma's models. A transaction leases them when it first uses one. */
  models: ModelClients;
  /** What the errors of requests and jobs have shown about this database. */
  health: DatabaseHealth;
  /** Limits the connections per courier and tenant; every transaction takes a permit. */
  connectionShares: ConnectionShares;
  /** False only in the tests that prove row-level security alone; see ownRows. */
  applicationFilters: boolean;
  /** Settings are made in each transaction and no statement is prepared, because sessions are shared. */
  isBehindPooler: boolean;
  /** The sampled request or job that uses this handle. Its statements and jobs belong to the trace. */
  span?: Span | undefined;
  /** Serves reports; see readFromReplica. Undefined without DATABASE_REPLICA_URL. */
  replica?: Replica | undefined;
};

/** Returns a handle for a sampled request or job; the same one without a span. */
export const withSpan = (db: Db, span: Span | undefined): Db => (span ? { ...db, span } : db);

/** Returns one system caller per tenant, for work that must reach all rows. */
export const systemCallers = (db: Db): Promise<SystemCaller[]> =>
  callersOf(db, 'select id from all_tenants() as id');

/** The same without sandboxes that ended more than a day ago: nothing happens in them (decision 0149). */
export const openCallers = (db: Db): Promise<SystemCaller[]> =>
  callersOf(db, 'select id from open_tenants() as id');

/** The same for open sandboxes alone. */
export const sandboxCallers = (db: Db): Promise<SystemCaller[]> =>
  callersOf(db, 'select id from open_sandboxes() as id');

async function callersOf(db: Db, statement: string): Promise<SystemCaller[]> {
  const ids = await readValues<string>(db.pool, statement);
  return ids.map((tenantId) => ({ kind: 'system', tenantId }));
}
