import type { UserCaller } from '../auth/callers.js';
import type { BodyOf, DataOf } from '../contract/types.js';
import { ownRows, tenantRows } from '../db/filters.js';
import { containsPattern } from '../db/patterns.js';
import { join, sql, type Db, type Sql } from '../db/transaction.js';

export type PackageFilters = Omit<BodyOf<'retrievePackages'>, 'page' | 'limit'>;

export type PackageRow = {
  id: string;
  tracking_number: string;
  house_number: string;
  user_code: string | null;
  first_name: string | null;
  last_name: string | null;
  weight_lb: string;
  shipper: string | null;
  description: string | null;
  received_at: Date;
  status: DataOf<'retrievePackages'>[number]['status'];
  courier_name: string | null;
  carrier_name: string | null;
  manifest_number: string | null;
};

/** One page, the newest first; the names are looked up for the page's rows alone. */
export function listPackages(
  db: Db,
  caller: UserCaller,
  filters: PackageFilters,
  { limit, page }: { limit: number; page: number },
): Sql {
  return sql`with page as materialized (
      select * from packages p where ${matching(db, caller, filters)}
      order by p.received_at desc, p.id desc
      limit ${limit}::int offset (${page}::bigint - 1) * ${limit}::bigint)
    select p.id, p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name, p.weight_lb, p.shipper,
      p.description, p.received_at, p.status, c.name as courier_name, r.name as carrier_name, m.manifest_number
    from page p
    left join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join carriers r on ${tenantRows(db, caller, 'r')} and r.tenant_id = p.tenant_id and r.id = p.carrier_id
    left join manifests m on ${tenantRows(db, caller, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    order by p.received_at desc, p.id desc`;
}

export type TotalsRow = { total_count: number; total_weight: string };

export function totalPackages(db: Db, caller: UserCaller, filters: PackageFilters): Sql {
  return sql`select count(*)::int as total_count, coalesce(sum(p.weight_lb), 0) as total_weight
    from packages p where ${matching(db, caller, filters)}`;
}

/** The packages that a caller may see and all filters select. An empty filter text is no filter. */
function matching(db: Db, caller: UserCaller, filters: PackageFilters): Sql {
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
