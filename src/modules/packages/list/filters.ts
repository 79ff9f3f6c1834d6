import type { BodyOf } from '../../../platform/contract/types.js';
import { allOf, containsPattern, ownRows } from '../../../platform/db/filters.js';
import { join, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type PackageQuery = BodyOf<'listPackages'>;

export type PackageFilters = Omit<
  PackageQuery,
  'page' | 'limit' | 'export' | 'export_format' | 'action' | 'package_ids'
>;

/** Returns only the filters. A request may contain other keys, which are ignored. */
export const filtersOf = (query: PackageFilters): PackageFilters => ({
  trackingNumber: query.trackingNumber,
  houseNumber: query.houseNumber,
  userCode: query.userCode,
  shipper: query.shipper,
  firstName: query.firstName,
  lastName: query.lastName,
  courierID: query.courierID,
  carrierID: query.carrierID,
  entryDateFloor: query.entryDateFloor,
  entryDateCeiling: query.entryDateCeiling,
});

export const hasFilters = (filters: PackageFilters): boolean => Object.values(filters).some(Boolean);

/**
 * Returns the condition for the packages that the caller may see and that match all filters. An empty text
 * does not filter.
 */
export const matching = (ctx: UserScope, filters: PackageFilters): Sql =>
  allOf(
    ownRows(ctx, 'p'),
    textFilter(filters),
    filters.houseNumber && sql`p.house_number = ${filters.houseNumber}`,
    filters.userCode && sql`p.user_code = ${filters.userCode}`,
    // A courier only ever sees its own packages, whatever courierID says.
    ctx.caller.courierId === null && filters.courierID && sql`p.courier_id = ${filters.courierID}::uuid`,
    filters.carrierID && sql`p.carrier_id = ${filters.carrierID}::uuid`,
    filters.entryDateFloor && sql`p.received_at >= ${midnight(filters.entryDateFloor)}`,
    filters.entryDateCeiling && sql`p.received_at < ${midnight(filters.entryDateCeiling, 1)}`,
  );

/**
 * Partial matches use the trigram index. The function compares a masked number with its mask
 * (maskTrackingNumber): comparing the full number would reveal the hidden part digit by digit.
 */
function textFilter(filters: PackageFilters): Sql | undefined {
  const { trackingNumber, shipper, firstName, lastName, courierID } = filters;
  const patterns = [trackingNumber, shipper, firstName, lastName].map((text) =>
    text ? containsPattern(text) : null,
  );
  if (patterns.every((pattern) => pattern === null)) return undefined;
  const found = sql`select packages_containing(${join(patterns)}, ${courierID || null}::uuid)`;
  return sql`p.id = any (array(${found}))`;
}

/** Midnight UTC of a date, or `daysAfter` days later, independent of the session's time zone. */
const midnight = (date: string, daysAfter = 0) =>
  sql`(${date}::date + ${daysAfter}::int)::timestamp at time zone 'UTC'`;
