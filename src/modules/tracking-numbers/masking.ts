import type { UserCaller } from '../../platform/identity/callers.js';
import { raw, sql, type Sql } from '../../platform/db/transaction.js';

const SHOWN_CHARACTERS = 4;

/**
 * A tracking number as a courier sees it while nobody knows whose customer's it is: `*` for all but the last
 * four characters, and for all of a number that has no more than four. Characters are counted as PostgreSQL
 * counts them, by code point, so that right(tracking_number, 4) is exactly what is shown.
 */
export function maskTrackingNumber(trackingNumber: string): string {
  const characters = Array.from(trackingNumber);
  const hidden =
    characters.length > SHOWN_CHARACTERS ? characters.length - SHOWN_CHARACTERS : characters.length;
  return '*'.repeat(hidden) + characters.slice(hidden).join('');
}

/** The same in SQL, of a packages row under this alias. */
export function maskedTrackingNumber(alias: string): Sql {
  const number = raw(`${alias}.tracking_number`);
  return sql`case when length(${number}) > ${SHOWN_CHARACTERS}
    then repeat('*', length(${number}) - ${SHOWN_CHARACTERS}) || right(${number}, ${SHOWN_CHARACTERS})
    else repeat('*', length(${number})) end`;
}
/** A package's tracking number as the caller may see it. */
export const shownTrackingNumber = (
  { courierId }: UserCaller,
  { tracking_number, user_code }: { tracking_number: string; user_code: string | null },
): string =>
  courierId !== null && user_code === null ? maskTrackingNumber(tracking_number) : tracking_number;
