import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, containsText, ownRows, tenantRows } from '../../../platform/db/filters.js';
import { limitTo, orderBy } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { isInWarehouse } from '../list/filters.js';

export type LocationQuery = QueryOf<'listLocations'>;

export type LocationRow = {
  location: string;
  warehouseId: string;
  warehouseName: string;
  packages: number;
  weightLb: string;
  oldestReceivedAt: Date;
};

/** Of all places that match, on all pages. */
export type LocationTotals = {
  total: number;
  totalPackages: number;
  totalWeightLb: string;
  withoutLocation: number;
};

/**
 * Selects one page of the places with packages in the warehouse, and the totals. The packages in the warehouse are few of all (decision
 * 0118): an index finds them, and the key of each leads to its position. There is one row with the totals only if the page is empty.
 */
export function pageOfLocations(
  ctx: UserScope,
  query: LocationQuery,
): Sql<LocationTotals & (LocationRow | { location: null })> {
  return sql`
    with found as materialized (
      select o.location, p.warehouse_id, count(*)::int as packages, sum(p.weight_lb) as weight_lb,
        min(p.received_at) as oldest_received_at
      from packages p
      left join parcel_positions o on ${tenantRows(ctx, 'o')} and o.tenant_id = p.tenant_id and o.parcel_key = p.tracking_key
      where ${allOf(
        ownRows(ctx, 'p'),
        isInWarehouse(ctx),
        query.warehouse_id && sql`p.warehouse_id = ${query.warehouse_id}::uuid`,
        query.q && containsText(query.q, ['o.location']),
      )}
      group by o.location, p.warehouse_id
    ), totals as (
      select (count(*) filter (where f.location is not null))::int as total,
        coalesce(sum(f.packages) filter (where f.location is not null), 0)::int as "totalPackages",
        coalesce(sum(f.weight_lb) filter (where f.location is not null), 0) as "totalWeightLb",
        coalesce(sum(f.packages) filter (where f.location is null), 0)::int as "withoutLocation"
      from found f
    ), page as (
      select f.location, f.warehouse_id as "warehouseId", w.name as "warehouseName", f.packages, f.weight_lb as "weightLb",
        f.oldest_received_at as "oldestReceivedAt", row_number() over (${orderOf(query)}) as position
      from found f
      join warehouses w on ${tenantRows(ctx, 'w')} and w.id = f.warehouse_id
      where f.location is not null
      ${orderOf(query)} ${limitTo(query)}
    )
    select page.location, page."warehouseId", page."warehouseName", page.packages, page."weightLb", page."oldestReceivedAt", totals.*
    from totals left join page on true order by page.position`;
}

/** The columns have the names of the contract. Places with the same value have one order in each direction. */
const orderOf = ({ sort_by: field, sort_dir: direction }: LocationQuery): Sql =>
  orderBy('f', [field, 'location', 'warehouse_id'], direction);
