import type { UserCaller } from '../identity/callers.js';
import { raw, sql, type Sql } from './statements.js';

/** A request context is one. */
export type FilterScope<Who> = { caller: Who; applicationFilters: boolean };

/**
 * The application's own filter on a table that belongs to couriers: the caller's tenant and, for a courier, its
 * account. Row-level security repeats it. Each must be sufficient alone. This one also lets PostgreSQL use indexes.
 *
 * @param alias the table's name in the statement
 */
export function ownRows({ caller, applicationFilters }: FilterScope<UserCaller>, alias: string): Sql {
  if (!applicationFilters) return sql`true`;
  const table = raw(alias);
  return caller.courierId === null
    ? sql`${table}.tenant_id = ${caller.tenantId}::uuid`
    : sql`${table}.tenant_id = ${caller.tenantId}::uuid and ${table}.courier_id = ${caller.courierId}::uuid`;
}

/** The same for a table that the whole tenant shares. */
export function tenantRows(
  { caller, applicationFilters }: FilterScope<{ tenantId: string }>,
  alias: string,
): Sql {
  return applicationFilters ? sql`${raw(alias)}.tenant_id = ${caller.tenantId}::uuid` : sql`true`;
}

/** Returns an ILIKE pattern for values that contain `text`, with its `%`, `_` and `\` escaped. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}
