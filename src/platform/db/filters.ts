import type { Db, Sql, Tx } from './transaction.js';
import { raw, sql } from './transaction.js';
import type { UserCaller } from '../identity/callers.js';

/**
 * The application's own filter on a table that belongs to couriers: the caller's tenant and, for a courier,
 * its account. Row-level security repeats it; each must hold alone, and this one lets indexes be used.
 *
 * @param alias the table's name in the statement
 */
export function ownRows(db: Db, caller: UserCaller, alias: string): Sql {
  if (!db.applicationFilters) return sql`true`;
  const table = raw(alias);
  return caller.courierId === null
    ? sql`${table}.tenant_id = ${caller.tenantId}::uuid`
    : sql`${table}.tenant_id = ${caller.tenantId}::uuid and ${table}.courier_id = ${caller.courierId}::uuid`;
}

/** The same for a table that the whole tenant shares. */
export function tenantRows(db: Db, caller: { tenantId: string }, alias: string): Sql {
  return db.applicationFilters ? sql`${raw(alias)}.tenant_id = ${caller.tenantId}::uuid` : sql`true`;
}

export type { Tx };
