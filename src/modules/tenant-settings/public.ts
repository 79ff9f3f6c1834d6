import type { UserContext } from '../../platform/context/request-context.js';
import { UTC } from '../../platform/db/filters.js';
import { readSettings } from './settings.js';

export { currencyOf, missingAfterHours, zoneOf } from './queries.js';
export { assertZone, isCurrency } from './settings.js';

/**
 * Returns the time zone in which a request counts days: a name of the IANA database. It is read before the statement that filters by it,
 * so that PostgreSQL plans with times that it knows.
 *
 * @param dayZone of the request
 */
export async function zoneOfDays(ctx: UserContext, dayZone: 'utc' | 'tenant' | undefined): Promise<string> {
  return dayZone === 'tenant' ? (await readSettings(ctx)).timeZone : UTC;
}
