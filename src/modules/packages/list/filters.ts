import type { BodyOf } from '../../../platform/contract/types.js';
import {
  allOf,
  containsPattern,
  ownRows,
  startOfDay,
  tenantRows,
  UTC,
} from '../../../platform/db/filters.js';
import { join, raw, sql, type Sql } from '../../../platform/db/statements.js';
import { isDateTime } from '../../../platform/contract/validator.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { readScan } from '../../tracking-numbers/public.js';

export type PackageQuery = BodyOf<'listPackages'>;

export type PackageFilters = Omit<
  PackageQuery,
  | 'page'
  | 'limit'
  | 'export'
  | 'export_format'
  | 'action'
  | 'package_ids'
  | 'sort_by'
  | 'sort_dir'
  | 'day_zone'
> & {
  /** The time zone in which the days of the entry date begin; UTC if it is missing. */
  zone?: string;
};

/**
 * Returns only the filters. A request may contain other keys, which are ignored.
 *
 * @param zone in which the days of the request begin
 * @throws ApiError validation_failed if filters that the contract cannot compare do not fit together
 */
export function filtersOf(query: PackageFilters, zone = UTC): PackageFilters {
  assertPeriod(query);
  if (query.changed_since !== undefined && !isDateTime(query.changed_since))
    throw invalidFieldError('changed_since', 'invalid_date_time');
  return { ...listFiltersOf(query), ...officeFiltersOf(query), ...(zone === UTC ? {} : { zone }) };
}

const listFiltersOf = (query: PackageFilters): PackageFilters => ({
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

const officeFiltersOf = (query: PackageFilters): PackageFilters => ({
  // Some generated clients send an empty list for one that is not set.
  status: query.status?.length ? query.status : undefined,
  owner: query.owner,
  manifest_id: query.manifest_id,
  on_manifest: query.on_manifest,
  location: query.location,
  min_age_days: query.min_age_days,
  changed_since: query.changed_since,
  billed: query.billed,
  q: query.q,
});

/** Whether something filters. An empty text does not, but `false` and 0 do. */
export const hasFilters = ({ zone: _, ...filters }: PackageFilters): boolean =>
  Object.values<unknown>(filters).some((value) => value !== undefined && value !== '');

/** Whether the request has a filter whose matches are counted to a limit only. */
export const hasCappedFilters = (filters: PackageFilters): boolean => hasFilters(officeFiltersOf(filters));

/** Whether few packages match, but at a time that PostgreSQL does not know: it would walk all newer ones to find a page of them. */
export const hasNarrowFilter = ({ manifest_id, location, q, min_age_days }: PackageFilters): boolean =>
  // A warehouse in which nothing is old has no page of it: all packages that have left would be walked.
  (min_age_days ?? 0) > 0 || [manifest_id, location, q].some((value) => value !== undefined && value !== '');

/** Whether packages are searched for by a part of a text, which many can have. */
export const searchesText = ({ q, trackingNumber, shipper, firstName, lastName }: PackageFilters): boolean =>
  [q, trackingNumber, shipper, firstName, lastName].some(Boolean);

/** The fewest letters or digits in a row by which a trigram index finds a part of a value. */
const TRIGRAM = 3;

/** The longest period with `billed`, in days: the bill's lines of each package in it are looked up. */
const BILLED_DAYS = 31;

/** Asserts that `billed` has a period. Without an end, it reaches as far as one with an end may. */
function assertPeriod({ billed, entryDateFloor: from, entryDateCeiling: to }: PackageFilters): void {
  if (billed === undefined) return;
  if (!from) throw invalidFieldError('entryDateFloor', 'period_required');
  if (to && daysBetween(from, to) >= BILLED_DAYS)
    throw invalidFieldError('entryDateCeiling', 'too_long_after', {
      days: BILLED_DAYS - 1,
      other: 'entryDateFloor',
    });
}

const daysBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 86_400_000;

/**
 * Returns the condition for the packages that the caller may see and that match all filters. An empty text
 * does not filter.
 */
export function matching(ctx: UserScope, filters: PackageFilters): Sql {
  const { zone = UTC } = filters;
  return allOf(
    ownRows(ctx, 'p'),
    textFilter(filters),
    filters.houseNumber && sql`p.house_number = ${filters.houseNumber}`,
    filters.userCode && sql`p.user_code = ${filters.userCode}`,
    // A courier only ever sees its own packages, whatever courierID says.
    ctx.caller.courierId === null && filters.courierID && sql`p.courier_id = ${filters.courierID}::uuid`,
    filters.carrierID && sql`p.carrier_id = ${filters.carrierID}::uuid`,
    filters.entryDateFloor && sql`p.received_at >= ${startOfDay(filters.entryDateFloor, zone)}`,
    filters.entryDateCeiling && sql`p.received_at < ${startOfDay(filters.entryDateCeiling, zone, 1)}`,
    filters.status && sql`p.status = any(${filters.status}::text[])`,
    ownerFilter(filters),
    filters.manifest_id && sql`p.manifest_id = ${filters.manifest_id}::uuid`,
    filters.on_manifest === true && sql`p.manifest_id is not null`,
    filters.on_manifest === false && sql`p.manifest_id is null`,
    filters.location && placeFilter(ctx, filters.location),
    filters.min_age_days !== undefined && isOldInWarehouse(ctx, filters.min_age_days),
    filters.changed_since && sql`p.updated_at >= ${filters.changed_since}::timestamp at time zone 'UTC'`,
    billedFilter(ctx, filters),
    foundFilter(filters),
  );
}

function ownerFilter({ owner }: PackageFilters): Sql | undefined {
  switch (owner) {
    case 'none':
      return sql`p.courier_id is null`;
    case 'courier':
      return sql`p.courier_id is not null and p.user_code is null`;
    case 'customer':
      return sql`p.user_code is not null`;
    case undefined:
      return undefined;
  }
}

/** The most packages of a place that are looked at. */
const MAX_FOUND = sql`10000`;

/** Couriers do not see the places of their packages. */
function placeFilter(ctx: UserScope, location: string): Sql {
  if (ctx.caller.courierId !== null) return sql`false`;
  const put = sql`select o.parcel_key from parcel_positions o where ${tenantRows(ctx, 'o')} and o.location = ${location}
    order by o.updated_at desc limit ${MAX_FOUND}`;
  return amongFound('tracking_key', put);
}

/** The packages in the warehouse that were received at least so many times 24 hours ago. */
export const isOldInWarehouse = (ctx: UserScope, days: number): Sql =>
  sql`p.received_at <= now() - make_interval(days => ${days}::int) and ${isInWarehouse(ctx)}`;

/** Whether package `p` has not left the warehouse. One on hold can have left before. */
export const isInWarehouse = (ctx: UserScope): Sql =>
  sql`p.status in ('received', 'on_hold', 'customs_hold')
    and (p.status = 'received' or not exists (select from manifests m where ${tenantRows(ctx, 'm')} and m.tenant_id = p.tenant_id
      and m.id = p.manifest_id and m.status in ('shipped', 'completed')))`;

/** For a courier, drafts are no bills. */
function billedFilter(
  ctx: UserScope,
  { billed, entryDateFloor: from, entryDateCeiling: to, zone = UTC }: PackageFilters,
) {
  if (billed === undefined || !from) return undefined;
  const isForCourier = ctx.caller.courierId !== null;
  const line = sql`exists (select from bill_lines l join bills b on ${ownRows(ctx, 'b')} and b.tenant_id = l.tenant_id and b.id = l.bill_id
    where ${ownRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
      and (not ${isForCourier}::boolean or b.status <> 'draft'))`;
  const end = to ? undefined : sql`p.received_at < ${startOfDay(from, zone, BILLED_DAYS)}`;
  return allOf(billed ? line : sql`not ${line}`, end);
}

/** The packages that a text means. The function reads the packages of the caller only, and its indexes. */
function foundFilter({ q, courierID }: PackageFilters): Sql | undefined {
  if (!q) return undefined;
  const keys = readScan(q).numbers.flatMap((number) => number.keys);
  const codes = [...new Set([q, q.toUpperCase()])];
  const words = q.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const [first = null, second = null, third = null] = words.map((word) => partOf(word) ?? exactly(word));
  const found = sql`select packages_of_text(${partOf(q)}, ${codes}::text[], ${keys}::text[],
    ${first}, ${second}, ${third}, ${courierID || null}::uuid)`;
  return amongFound('id', found);
}

/** Returns an ILIKE pattern for values that contain the text, or null if it has no trigram by which the index finds them. */
const partOf = (text: string): string | null =>
  new RegExp(`[\\p{L}\\p{N}]{${TRIGRAM}}`, 'u').test(text) ? containsPattern(text) : null;

/**
 * A semi-join, which PostgreSQL can hash. It compares an array that a statement makes element by element, so that 10,000 ids in a filter
 * of as many packages took more than the time limit.
 */
const amongFound = (column: 'id' | 'tracking_key', found: Sql): Sql =>
  sql`${raw(`p.${column}`)} in (${found})`;

/** Returns an ILIKE pattern for the text itself, in any case of its letters. */
const exactly = (text: string): string => containsPattern(text).slice(1, -1);

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
  return hasCappedFilters(filters) ? amongFound('id', found) : sql`p.id = any (array(${found}))`;
}
