import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, ownRows } from '../../../platform/db/filters.js';
import { limitPast } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { INFO, visibleManifests, type InfoRow } from './queries.js';

export type ManifestQuery = QueryOf<'listManifests'>;

export type SummaryRow = InfoRow & { packages: number; weight_lb: string };

/**
 * Selects the manifests before `query.before`, newest first, and one more than `limit` to detect a next page. The packages are
 * counted only for the page.
 */
export function pageOfManifests(ctx: UserScope, query: ManifestQuery): Sql<SummaryRow> {
  const conditions = allOf(
    visibleManifests(ctx, 'm'),
    query.status && sql`m.status = ${query.status}`,
    query.before &&
      sql`(m.created_at, m.id) < (
        select b.created_at, b.id from manifests b where ${visibleManifests(ctx, 'b')} and b.id = ${query.before}::uuid)`,
  );
  return sql`
    select ${INFO}, c.packages, c.weight_lb
    from (
      select m.* from manifests m where ${conditions} order by m.created_at desc, m.id desc ${limitPast(query.limit)}
    ) m
    cross join lateral (
      select count(*)::int as packages, coalesce(sum(p.weight_lb), 0) as weight_lb from packages p
      where ${ownRows(ctx, 'p')} and p.tenant_id = m.tenant_id and p.manifest_id = m.id
    ) c
    order by m.created_at desc, m.id desc`;
}
