import type { UserCaller } from '../identity/callers.js';
import type { Db } from './database.js';
import { raw, sql, type Sql } from './statements.js';

/** A request context is one. */
export type FilterScope<Who> = { caller: Who; applicationFilters: boolean };

type Switch = Pick<Db, 'applicationFilters'>;

/**
 * The application's own filter on a table that belongs to couriers: the caller's tenant and, for a courier, its
 * account. Row-level security repeats it. Each must hold alone, and this one lets PostgreSQL use indexes.
 *
 * @param alias the table's name in the statement
 */
export function ownRows(scope: FilterScope<UserCaller>, alias: string): Sql;
/** For modules that have no request context yet. */
export function ownRows(db: Switch, caller: UserCaller, alias: string): Sql;
export function ownRows(...args: Arguments<UserCaller>): Sql {
  const { applicationFilters, caller, alias } = readArguments(args);
  if (!applicationFilters) return sql`true`;
  const table = raw(alias);
  return caller.courierId === null
    ? sql`${table}.tenant_id = ${caller.tenantId}::uuid`
    : sql`${table}.tenant_id = ${caller.tenantId}::uuid and ${table}.courier_id = ${caller.courierId}::uuid`;
}

type Tenanted = { tenantId: string };

/** The same for a table that the whole tenant shares. */
export function tenantRows(scope: FilterScope<Tenanted>, alias: string): Sql;
/** For modules that have no request context yet. */
export function tenantRows(db: Switch, caller: Tenanted, alias: string): Sql;
export function tenantRows(...args: Arguments<Tenanted>): Sql {
  const { applicationFilters, caller, alias } = readArguments(args);
  return applicationFilters ? sql`${raw(alias)}.tenant_id = ${caller.tenantId}::uuid` : sql`true`;
}

type Arguments<Who> = [FilterScope<Who>, string] | [Switch, Who, string];

function readArguments<Who>(args: Arguments<Who>): FilterScope<Who> & { alias: string } {
  if (args.length === 3)
    return { applicationFilters: args[0].applicationFilters, caller: args[1], alias: args[2] };
  const [{ applicationFilters, caller }, alias] = args;
  return { applicationFilters, caller, alias };
}
