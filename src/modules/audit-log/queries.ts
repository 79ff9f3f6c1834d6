import { isBeforeEntry, joinActors } from '../../platform/audit/entries.js';
import type { DataOf, QueryOf } from '../../platform/contract/types.js';
import { allOf, fromDay, tenantRows, untilDay, UTC } from '../../platform/db/filters.js';
import type { AuditEntry } from '../../platform/db/models/types.js';
import { isCommonLimit, limitPast } from '../../platform/db/pages.js';
import { onceIf, sql, type Sql } from '../../platform/db/statements.js';
import type { UserScope } from '../../platform/db/scope.js';

export type AuditQuery = QueryOf<'listAuditEntries'>;

type Shown = DataOf<'listAuditEntries'>[number];

export type AuditRow = Omit<AuditEntry, 'tenantId' | 'actorKind' | 'before' | 'after'> &
  Pick<Shown, 'before' | 'after' | 'hash'> & {
    actorKind: Shown['actor_kind'];
    actorName: string | null;
    /** A bigint, as text. */
    sequence: string | null;
  };

/**
 * Selects the page before `query.before`, newest first, and one row more to detect a next page.
 * @param zone in which the days begin
 */
export function pageOfEntries(ctx: UserScope, query: AuditQuery, zone = UTC): Sql<AuditRow> {
  // The page is cut first, so that names and links are read only for its rows.
  return onceIf(isCommonFirstPage(query))`
    select e.id, e.at, e.actor_kind as "actorKind", e.actor_id as "actorId",
      coalesce(u.username, c.code, t.name) as "actorName", e.action, e.entity, e.entity_id as "entityId", e.before, e.after,
      e.remarks, e.request_id as "requestId", l.sequence, encode(l.hash, 'hex') as hash
    from (
      select e.* from audit_entries e where ${matching(ctx, query, zone)}
      order by e.at desc, e.id desc ${limitPast(query.limit)}
    ) e
    left join audit_links l on ${tenantRows(ctx, 'l')} and l.tenant_id = e.tenant_id and l.entry_id = e.id
    ${joinActors(ctx)}
    order by e.at desc, e.id desc`;
}

/** Whether the page is a first page of all entries, of a common size. */
const isCommonFirstPage = ({ limit, day_zone: _, ...filters }: AuditQuery): boolean =>
  isCommonLimit(limit) && !Object.values(filters).some(Boolean);

const matching = (ctx: UserScope, query: AuditQuery, zone: string): Sql =>
  allOf(
    tenantRows(ctx, 'e'),
    query.actor_id && sql`e.actor_id = ${query.actor_id}::uuid`,
    query.actor_kind && sql`e.actor_kind = ${query.actor_kind}`,
    query.entity && sql`e.entity = ${query.entity}`,
    query.entity_id && sql`e.entity_id = ${query.entity_id}::uuid`,
    query.action && sql`e.action = ${query.action}`,
    query.request_id && sql`e.request_id = ${query.request_id}`,
    query.from && fromDay(sql`e.at`, query.from, zone),
    query.to && untilDay(sql`e.at`, query.to, zone),
    query.before && isBeforeEntry(ctx, query.before),
  );
