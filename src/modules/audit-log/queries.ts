import type { DataOf, QueryOf } from '../../platform/contract/types.js';
import { tenantRows } from '../../platform/db/filters.js';
import type { AuditEntry } from '../../platform/db/models/types.js';
import { isCommonLimit, limitPast } from '../../platform/db/pages.js';
import { join, onceIf, sql, type Sql } from '../../platform/db/statements.js';
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

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export function pageOfEntries(ctx: UserScope, query: AuditQuery): Sql<AuditRow> {
  // The page is cut first, so that names and links are read only for its rows.
  return onceIf(isCommonFirstPage(query))`
    select e.id, e.at, e.actor_kind as "actorKind", e.actor_id as "actorId",
      coalesce(u.username, c.code) as "actorName", e.action, e.entity, e.entity_id as "entityId", e.before, e.after,
      e.remarks, e.request_id as "requestId", l.sequence, encode(l.hash, 'hex') as hash
    from (
      select e.* from audit_entries e where ${matching(ctx, query)}
      order by e.at desc, e.id desc ${limitPast(query.limit)}
    ) e
    left join audit_links l on ${tenantRows(ctx, 'l')} and l.tenant_id = e.tenant_id and l.entry_id = e.id
    left join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = e.tenant_id
      and e.actor_kind = 'user' and u.id = e.actor_id
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = e.tenant_id
      and e.actor_kind = 'api_key' and c.id = e.actor_id
    order by e.at desc, e.id desc`;
}

/** Whether the page is a first page of all entries, of a common size. */
const isCommonFirstPage = ({ limit, ...filters }: AuditQuery): boolean =>
  isCommonLimit(limit) && !Object.values(filters).some(Boolean);

function matching(ctx: UserScope, query: AuditQuery): Sql {
  const conditions = [tenantRows(ctx, 'e')];
  if (query.actor_id) conditions.push(sql`e.actor_id = ${query.actor_id}::uuid`);
  if (query.actor_kind) conditions.push(sql`e.actor_kind = ${query.actor_kind}`);
  if (query.entity) conditions.push(sql`e.entity = ${query.entity}`);
  if (query.entity_id) conditions.push(sql`e.entity_id = ${query.entity_id}::uuid`);
  if (query.action) conditions.push(sql`e.action = ${query.action}`);
  if (query.request_id) conditions.push(sql`e.request_id = ${query.request_id}`);
  if (query.from) conditions.push(sql`e.at >= ${query.from}::date::timestamp at time zone 'UTC'`);
  if (query.to) conditions.push(sql`e.at < (${query.to}::date + 1)::timestamp at time zone 'UTC'`);
  if (query.before)
    conditions.push(sql`(e.at, e.id) < ((
      select b.at from audit_entries b where ${tenantRows(ctx, 'b')} and b.id = ${query.before}::uuid
    ), ${query.before}::uuid)`);
  return join(conditions, ' and ');
}
