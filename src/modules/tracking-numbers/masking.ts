import type { Package } from '../../platform/db/models/types.js';
import type { UserCaller } from '../../platform/identity/callers.js';
import { raw, sql, type Sql } from '../../platform/db/statements.js';

const SHOWN_CHARACTERS = 4;

/**
 * Returns the tracking number as a courier sees it while the package has no customer: every character but the
 * last four is replaced by `*`. A number of up to four characters is masked whole. Characters are counted by
 * code point, as PostgreSQL counts them, so that right(tracking_number, 4) is exactly the visible part.
 */
export function maskTrackingNumber(trackingNumber: string): string {
  const characters = Array.from(trackingNumber);
  const hidden =
    characters.length > SHOWN_CHARACTERS ? characters.length - SHOWN_CHARACTERS : characters.length;
  return '*'.repeat(hidden) + characters.slice(hidden).join('');
}

/** Returns the SQL equivalent of maskTrackingNumber, for a packages row with this alias. */
export function maskedTrackingNumber(alias: string): Sql {
  const number = raw(`${alias}.tracking_number`);
  return sql`case when length(${number}) > ${SHOWN_CHARACTERS}
    then repeat('*', length(${number}) - ${SHOWN_CHARACTERS}) || right(${number}, ${SHOWN_CHARACTERS})
    else repeat('*', length(${number})) end`;
}
/** Returns the tracking number of a package, masked if the caller may not see all of it. */
export const shownTrackingNumber = (
  { courierId }: UserCaller,
  { trackingNumber, userCode }: Pick<Package, 'trackingNumber' | 'userCode'>,
): string => (courierId !== null && userCode === null ? maskTrackingNumber(trackingNumber) : trackingNumber);
