import type { components } from '../../../../generated/contract.js';
import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { empty, sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import { matching, type PackageFilters } from './filters.js';

export type PageNumber = { limit: number; page: number };

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
  status: components['schemas']['PackageStatus'];
  courier_name: string | null;
  carrier_name: string | null;
  manifest_number: string | null;
};

/** A package in an exported file: without the description, with its courier's code. */
export type ExportRow = Omit<PackageRow, 'description' | 'received_at'> & {
  courier_code: string | null;
  /** YYYY-MM-DD HH:MM:SS in UTC. */
  entry_date_time: string;
};

const SHOWN = sql`p.id, p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name, p.weight_lb,
  p.shipper, p.received_at, p.status`;
const LISTED = sql`${SHOWN}, p.description, c.name as courier_name, r.name as carrier_name, m.manifest_number`;
// The time is selected as text, because converting 10,000 dates in JavaScript took a fifth of an export.
const EXPORTED = sql`p.id, p.tracking_number, p.house_number, p.user_code, p.first_name, p.last_name, p.weight_lb,
  p.shipper, p.status, to_char(p.received_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as entry_date_time,
  c.name as courier_name, c.code as courier_code, r.name as carrier_name, m.manifest_number`;

/** Selects one page, newest first. */
export function listPackages(db: Db, caller: UserCaller, filters: PackageFilters, page: PageNumber): Sql {
  return pageOfPackages(db, caller, filters, page, sql`${SHOWN}, p.description`, LISTED);
}

/** Selects the same page for an export. */
export function exportPackages(db: Db, caller: UserCaller, filters: PackageFilters, page: PageNumber): Sql {
  return pageOfPackages(db, caller, filters, page, SHOWN, EXPORTED);
}

/** Names are joined after the page is cut, so they are looked up only for its rows. */
function pageOfPackages(
  db: Db,
  caller: UserCaller,
  filters: PackageFilters,
  { limit, page }: PageNumber,
  pageColumns: Sql,
  resultColumns: Sql,
): Sql {
  return sql`with page as materialized (
      select p.tenant_id, p.courier_id, p.carrier_id, p.manifest_id, ${pageColumns}
      from packages p where ${matching(db, caller, filters)}
      order by p.received_at desc, p.id desc
      limit ${limit}::int offset (${page}::bigint - 1) * ${limit}::bigint)
    select ${resultColumns}
    from page p
    left join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = p.tenant_id and c.id = p.courier_id
    left join carriers r on ${tenantRows(db, caller, 'r')} and r.tenant_id = p.tenant_id and r.id = p.carrier_id
    left join manifests m on ${tenantRows(db, caller, 'm')} and m.tenant_id = p.tenant_id and m.id = p.manifest_id
    order by p.received_at desc, p.id desc`;
}

export type TotalsRow = { total_count: number; total_weight: string };

/**
 * Selects the totals of all pages. Without filters other than the courier, it sums the maintained counters.
 */
export function totalPackages(db: Db, caller: UserCaller, filters: PackageFilters): Sql {
  const { courierID, ...others } = filters;
  if (Object.values(others).some(Boolean)) {
    return sql`select count(*)::int as total_count, coalesce(sum(p.weight_lb), 0) as total_weight
      from packages p where ${matching(db, caller, filters)}`;
  }
  const courier =
    caller.courierId === null && courierID ? sql` and t.courier_id = ${courierID}::uuid` : empty;
  return sql`select coalesce(sum(t.total), 0)::int as total_count, coalesce(sum(t.weight_lb), 0) as total_weight
    from package_tallies t where ${ownRows(db, caller, 't')}${courier}`;
}
