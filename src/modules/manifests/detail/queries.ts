import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { once, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { LoadingGate } from '../lifecycle/fields.js';
import type { ManifestStatus } from '../../../platform/contract/types.js';
import type { UserScope } from '../../../platform/db/scope.js';

// Rows have the names of the contract's records. node-postgres returns a numeric as text.

export type InfoRow = {
  id: string;
  manifest_number: string;
  awb_number: string | null;
  airline_prefix: string | null;
  flight_date: string | null;
  flight_number: string | null;
  status: ManifestStatus;
  notes: string | null;
  created_at: Date;
  warehouse_id: string;
  loading_gate: LoadingGate;
};

/** The columns of an InfoRow. */
export const INFO = sql`m.id, m.manifest_number, m.awb_number, m.airline_prefix,
  to_char(m.flight_date, 'YYYY-MM-DD') as flight_date, m.flight_number, m.status, m.notes, m.created_at,
  m.warehouse_id, m.loading_gate`;

/** Filters the manifests that the caller may see: a courier, those with a package of its own. */
export function visibleManifests(ctx: UserScope, alias: string): Sql {
  const own = tenantRows(ctx, alias);
  if (ctx.caller.courierId === null) return own;
  return sql`${own} and exists (
    select from packages p where p.tenant_id = ${raw(alias)}.tenant_id and p.manifest_id = ${raw(alias)}.id and ${ownRows(ctx, 'p')})`;
}

export const selectInfo = (ctx: UserScope, id: string): Sql<InfoRow> =>
  once`select ${INFO} from manifests m where ${visibleManifests(ctx, 'm')} and m.id = ${id}::uuid`;

export type PackageRow = {
  id: string;
  tracking_number: string;
  house_number: string;
  weight_lb: string;
  first_name: string | null;
  last_name: string | null;
  user_code: string | null;
  courier_name: string | null;
  courier_code: string | null;
  carrier_name: string | null;
};

export function selectPackages(ctx: UserScope, manifestId: string): Sql<PackageRow> {
  return once`
    select p.id, p.tracking_number, p.house_number, p.weight_lb, p.first_name, p.last_name, p.user_code,
      c.name as courier_name, c.code as courier_code, k.name as carrier_name
    from packages p
    left join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id and ${tenantRows(ctx, 'c')}
    left join carriers k on k.tenant_id = p.tenant_id and k.id = p.carrier_id and ${tenantRows(ctx, 'k')}
    where ${ownRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid
    order by p.received_at, p.id`;
}

export type FiguresRow = {
  /** Whether the row is the total of all packages. */
  is_total: boolean;
  courier_code: string | null;
  house_color: string | null;
  count: number;
  weight_lb: string;
  weight_kg: string;
};

/**
 * Selects one row per courier on the manifest, one without a code for packages without a courier, and one of
 * totals.
 */
export function selectFigures(ctx: UserScope, manifestId: string): Sql<FiguresRow> {
  return once`
    select grouping(c.code) = 1 as is_total, c.code as courier_code, c.house_color, count(*)::int as count,
      coalesce(sum(p.weight_lb), 0) as weight_lb, round(coalesce(sum(p.weight_lb), 0) * 0.45359237, 3) as weight_kg
    from packages p
    left join couriers c on c.tenant_id = p.tenant_id and c.id = p.courier_id and ${tenantRows(ctx, 'c')}
    where ${ownRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid
    group by grouping sets ((c.code, c.house_color), ())
    order by is_total, c.code`;
}

/** Selects the packages of a manifest that have a flagged pre-alert of their number, in the order of the packages. Only for staff. */
export function selectDisputed(ctx: UserScope, manifestId: string): Sql<{ id: string }> {
  return once`
    select p.id from packages p
    where ${ownRows(ctx, 'p')} and p.manifest_id = ${manifestId}::uuid and exists (
      select from prealerts a where ${ownRows(ctx, 'a')} and a.status = 'flagged'
        and a.tenant_id = p.tenant_id and a.tracking_key = p.tracking_key)
    order by p.received_at, p.id`;
}
