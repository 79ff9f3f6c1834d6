import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { once, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { Line } from './pdf/manifest.js';
import { INFO, visibleManifests, type InfoRow } from '../detail/queries.js';

export type HeadRow = InfoRow & {
  airline: string | null;
  /** The warehouse of departure. */
  origin: string;
  /** Its address, one part per line. */
  origin_address: string[];
};

export const selectHead = (ctx: UserScope, id: string): Sql<HeadRow> => once`
  select ${INFO}, a.name as airline, w.name as origin,
    array_remove(array[nullif(w.address, ''), nullif(w.city, ''), nullif(w.country, '')], null) as origin_address
  from manifests m
  join warehouses w on w.tenant_id = m.tenant_id and w.id = m.warehouse_id and ${tenantRows(ctx, 'w')}
  left join airlines a on a.tenant_id = m.tenant_id and a.prefix = m.airline_prefix and ${tenantRows(ctx, 'a')}
  where ${visibleManifests(ctx, 'm')} and m.id = ${id}::uuid`;

/** Selects the packages of a manifest by courier and house number, at most `limit`. */
export const selectLines = (ctx: UserScope, id: string, limit: number): Sql<Line> => once`
  select p.house_number, p.tracking_number, c.code as courier_code, c.name as courier_name, p.user_code, p.first_name,
    p.last_name, p.weight_lb, round(p.weight_lb * 0.45359237, 3) as weight_kg, p.status, k.name as carrier_name,
    p.shipper, p.description
  from packages p
  left join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id and ${tenantRows(ctx, 'c')}
  left join carriers k on k.tenant_id = p.tenant_id and k.id = p.carrier_id and ${tenantRows(ctx, 'k')}
  where ${ownRows(ctx, 'p')} and p.manifest_id = ${id}::uuid
  order by c.code, p.house_number, p.id limit ${limit}::int`;
