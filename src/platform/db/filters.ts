import type { UserCaller } from '../identity/callers.js';
import { join, raw, sql, type Sql } from './statements.js';

/** A request context is one. */
export type FilterScope<Who> = { caller: Who; applicationFilters: boolean };

/** Whose rows are read: those of a courier, or of the whole tenant (null). A user is a reader. */
export type Reader = Pick<UserCaller, 'tenantId' | 'courierId'>;

/**
 * The application's own filter on a table that belongs to couriers: the caller's tenant and, for a courier, its
 * account. Row-level security repeats it. Each must be sufficient alone. This one also lets PostgreSQL use indexes.
 *
 * @param alias the table's name in the statement
 */
export function ownRows({ caller, applicationFilters }: FilterScope<Reader>, alias: string): Sql {
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

/** Joins the conditions that apply, of those that may be left out. */
export const allOf = (...conditions: (Sql | '' | false | undefined)[]): Sql =>
  join(
    conditions.filter((condition) => typeof condition === 'object'),
    ' and ',
  );

/** The time zone of days, unless a request names another one. */
export const UTC = 'UTC';

/**
 * When a day begins in a time zone, or the one so many days later.
 *
 * Where the clock is set back at midnight, midnight comes twice, and PostgreSQL takes the second one. An hour before is not ambiguous there, so
 * the earlier of both results is the first moment with that date.
 *
 * @param day YYYY-MM-DD
 * @param zone a name of the IANA database
 */
export function startOfDay(day: string, zone: string, daysAfter = 0): Sql {
  const midnight = sql`(${day}::date + ${daysAfter}::int)::timestamp`;
  if (zone === UTC) return sql`${midnight} at time zone 'UTC'`;
  return sql`least(${midnight} at time zone ${zone}, (${midnight} - interval '1 hour') at time zone ${zone} + interval '1 hour')`;
}

/** The time as it is on a clock of the time zone. */
export const localTime = (time: Sql, zone: string): Sql => sql`(${time} at time zone ${zone})`;

/** A time on this day or later. Days are those of UTC, or of another time zone. */
export const fromDay = (column: Sql, day: string, zone = UTC): Sql =>
  sql`${column} >= ${startOfDay(day, zone)}`;

/** A time before the end of this day. */
export const untilDay = (column: Sql, day: string, zone = UTC): Sql =>
  sql`${column} < ${startOfDay(day, zone, 1)}`;

/** Returns an ILIKE pattern for values that contain `text`, with its `%`, `_` and `\` escaped. */
export function containsPattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Whether one of the columns contains the text, in any case of its letters. */
export const containsText = (text: string, columns: readonly string[]): Sql =>
  sql`(${join(
    columns.map((column) => sql`${raw(column)} ilike ${containsPattern(text)}`),
    ' or ',
  )})`;
