import type { UserCaller } from '../../../platform/identity/callers.js';
import type { BodyOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { containsPattern } from '../../../platform/db/patterns.js';
import { join, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type PackageQuery = BodyOf<'retrievePackages'>;

export type PackageFilters = Omit<
  PackageQuery,
  'page' | 'limit' | 'export' | 'export_format' | 'action' | 'package_ids'
>;

/** The filters alone, one by one: a body may hold other keys, which are ignored. */
export const filtersOf = (query: PackageQuery): PackageFilters => ({
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

/** The packages that a caller may see and all filters select. An empty filter text is no filter. */
export function matching(db: Db, caller: UserCaller, filters: PackageFilters): Sql {
  const conditions = [
    textFilter(filters),
    filters.houseNumber && sql`p.house_number = ${filters.houseNumber}`,
    filters.userCode && sql`p.user_code = ${filters.userCode}`,
    // a courier has no other courier's packages, whatever it asks for
    caller.courierId === null && filters.courierID && sql`p.courier_id = ${filters.courierID}::uuid`,
    filters.carrierID && sql`p.carrier_id = ${filters.carrierID}::uuid`,
    filters.entryDateFloor && sql`p.received_at >= ${midnight(filters.entryDateFloor)}`,
    filters.entryDateCeiling && sql`p.received_at < ${midnight(filters.entryDateCeiling, 1)}`,
  ];
  return join([ownRows(db, caller, 'p'), ...conditions.filter((condition) => isSql(condition))], ' and ');
}

const isSql = (condition: Sql | string | false | undefined): condition is Sql =>
  typeof condition === 'object';

/**
 * The partial filters, through the trigram index. The function matches a masked number by what the courier sees
 * of it (maskTrackingNumber): the whole number would tell it the hidden part digit by digit.
 */
function textFilter({ trackingNumber, shipper, firstName, lastName }: PackageFilters): Sql | undefined {
  const patterns = [trackingNumber, shipper, firstName, lastName].map((text) =>
    text ? containsPattern(text) : null,
  );
  if (patterns.every((pattern) => pattern === null)) return undefined;
  return sql`p.id = any (array(select search_packages(${join(patterns)})))`;
}

/** Midnight UTC of a date, or so many days after it, whatever time zone the session has. */
const midnight = (date: string, daysAfter = 0) =>
  sql`(${date}::date + ${daysAfter}::int)::timestamp at time zone 'UTC'`;
