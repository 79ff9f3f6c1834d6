import type { QueryOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { limitPast } from '../../../platform/db/pages.js';
import { join, raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { InfoRow } from '../detail/queries.js';

export type ManifestQuery = QueryOf<'listManifests'>;

export type SummaryRow = InfoRow & { packages: number; weight_lb: string };

/** Filters the manifests that the caller may see: a courier, those with a package of its own. */
function visibleManifests(ctx: UserScope, alias: string): Sql {
  const own = tenantRows(ctx, alias);
  if (ctx.caller.courierId === null) return own;
  return sql`${own} and exists (
    select from packages p where p.tenant_id = ${raw(alias)}.tenant_id and p.manifest_id = ${raw(alias)}.id and ${ownRows(ctx, 'p')})`;
}

/**
 * Selects the manifests before `query.before`, newest first, and one more than `limit` to detect a next page. The packages are
 * counted only for the page.
 */
export function pageOfManifests(ctx: UserScope, query: ManifestQuery): Sql<SummaryRow> {
  const conditions = [visibleManifests(ctx, 'm')];
  if (query.status) conditions.push(sql`m.status = ${query.status}`);
  if (query.before)
    conditions.push(sql`(m.created_at, m.id) < (
      select b.created_at, b.id from manifests b where ${visibleManifests(ctx, 'b')} and b.id = ${query.before}::uuid)`);
  return sql`
    select m.id, m.manifest_number, m.awb_number, m.airline_prefix,
      to_char(m.flight_date, 'YYYY-MM-DD') as flight_date, m.flight_number, m.status, m.notes, m.created_at,
      m.warehouse_id, m.loading_gate, c.packages, c.weight_lb
    from (
      select m.* from manifests m where ${join(conditions, ' and ')} order by m.created_at desc, m.id desc ${limitPast(query.limit)}
    ) m
    cross join lateral (
      select count(*)::int as packages, coalesce(sum(p.weight_lb), 0) as weight_lb from packages p
      where ${ownRows(ctx, 'p')} and p.tenant_id = m.tenant_id and p.manifest_id = m.id
    ) c
    order by m.created_at desc, m.id desc`;
}
