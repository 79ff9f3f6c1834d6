import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, containsPattern, ownRows } from '../../../platform/db/filters.js';
import { limitPast } from '../../../platform/db/pages.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { hasText, lettersOf } from './search-text.js';
import { INFO, visibleManifests, type InfoRow } from './queries.js';

export type ManifestQuery = QueryOf<'listManifests'>;

export type SummaryRow = InfoRow & { packages: number; weight_lb: string };

/** Selects the manifests after `query.before`, and one more than `limit` to detect a next page. The packages are counted only for the page. */
export function pageOfManifests(ctx: UserScope, query: ManifestQuery): Sql<SummaryRow> {
  const { sort_by: field, sort_dir: direction, before } = query;
  const follows = raw(direction === 'ASC' ? '>' : '<');
  const order = sql`order by ${keyOf('m', field)} ${raw(direction)}, m.id ${raw(direction)}`;
  const conditions = allOf(
    visibleManifests(ctx, 'm'),
    ...filtersOf(query),
    before &&
      sql`(${keyOf('m', field)}, m.id) ${follows} (
        select ${keyOf('b', field)}, b.id from manifests b where ${visibleManifests(ctx, 'b')} and b.id = ${before}::uuid)`,
  );
  return sql`
    select ${INFO}, c.packages, c.weight_lb
    from (select m.* from manifests m where ${conditions} ${order} ${limitPast(query.limit)}) m
    cross join lateral (
      select count(*)::int as packages, coalesce(sum(p.weight_lb), 0) as weight_lb from packages p
      where ${ownRows(ctx, 'p')} and p.tenant_id = m.tenant_id and p.manifest_id = m.id
    ) c
    ${order}`;
}

/** The column that orders a list. A manifest without a flight date is the oldest flight. An index has this expression. */
const keyOf = (alias: string, field: ManifestQuery['sort_by']): Sql =>
  raw(field === 'flight_date' ? `coalesce(${alias}.flight_date, '-infinity'::date)` : `${alias}.${field}`);

function filtersOf({ status, q, flight_from: from, flight_to: to }: ManifestQuery) {
  const flown = keyOf('m', 'flight_date');
  return [
    status && sql`m.status = ${status}`,
    from && sql`${flown} >= ${from}::date`,
    to && sql`${flown} <= ${to}::date and m.flight_date is not null`,
    hasText(q) && contains(q),
  ];
}

function contains(q: string): Sql {
  const pattern = containsPattern(lettersOf(q));
  const matches = (column: string) => sql`translate(${raw(`m.${column}`)}, '- ', '') ilike ${pattern}`;
  return sql`(${matches('manifest_number')} or ${matches('awb_number')} or ${matches('flight_number')})`;
}
