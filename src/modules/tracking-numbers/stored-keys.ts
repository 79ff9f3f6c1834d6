import { empty, raw, sql, type Sql } from '../../platform/db/statements.js';
import { readScan } from './read-scan.js';

/** The number of a stored row. */
export type StoredNumber = { trackingKey: string; trackingNumber: string | null };

/**
 * Returns all keys under which other rows of the parcel can be stored, the row's own first. A pre-alert of a label and a package of
 * the number inside it have different keys.
 */
export function keysOfStored({ trackingKey, trackingNumber }: StoredNumber): [string, ...string[]] {
  const [number, another] = readScan(trackingNumber ?? '').numbers;
  const keys = number && !another ? number.keys : [];
  return [trackingKey, ...keys.filter((key) => key !== trackingKey)];
}

/** Returns the key of a stored number, or the row's key if an earlier release has stored a text that is not one number. */
export function keyOfStored({ trackingKey, trackingNumber }: StoredNumber): string {
  const [number, another] = readScan(trackingNumber ?? '').numbers;
  return number && !another ? number.key : trackingKey;
}

/** The rows of a table with a tracking key that have one of these keys. One key is compared directly. */
export function keyIn(alias: string, keys: readonly string[]): Sql {
  const column = raw(`${alias}.tracking_key`);
  const [key, another] = keys;
  return another === undefined ? sql`${column} = ${key}` : sql`${column} = any(${keys}::text[])`;
}

/** The same for keys in a column of type text[]. */
export const keyInColumn = (alias: string, keys: Sql): Sql =>
  sql`${raw(`${alias}.tracking_key`)} = any(${keys})`;

/**
 * Of the rows that keys of a parcel lead to, returns those with its own key, or all if none has it: a short number can be the end of
 * several longer ones. If several packages are left, it is open which is meant (decision 0105).
 */
export function ownOrAll<Row extends { trackingKey: string }>(
  rows: readonly Row[],
  [own]: readonly string[],
): readonly Row[] {
  const exact = rows.filter(({ trackingKey }) => trackingKey === own);
  return exact.length > 0 ? exact : rows;
}

/** Orders the rows that keyIn selects as the keys are ordered. One key selects one package. */
export function orderedByKey(alias: string, keys: readonly string[]): Sql {
  if (keys.length <= 1) return empty;
  return sql`order by array_position(${keys}::text[], ${raw(`${alias}.tracking_key`)})`;
}
