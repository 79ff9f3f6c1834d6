import { allOf, tenantRows } from '../db/filters.js';
import { limitPast } from '../db/pages.js';
import { sql, type Sql } from '../db/statements.js';
import type { UserScope } from '../db/scope.js';

// Parts of statements that read `audit_entries e`.

/** Joins who made the entries: users `u`, couriers `c` whose API key was used, and service tokens `t`. */
export const joinActors = (ctx: UserScope): Sql => sql`
  left join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = e.tenant_id
    and e.actor_kind = 'user' and u.id = e.actor_id
  left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = e.tenant_id
    and e.actor_kind = 'api_key' and c.id = e.actor_id
  left join service_tokens t on ${tenantRows(ctx, 't')} and t.tenant_id = e.tenant_id
    and e.actor_kind = 'api_key' and t.id = e.actor_id`;

/** Whether an entry is older than that of a page before. No entry is older than one that the tenant does not have. */
export const isBeforeEntry = (ctx: UserScope, id: string): Sql =>
  sql`(e.at, e.id) < ((
    select b.at from audit_entries b where ${tenantRows(ctx, 'b')} and b.id = ${id}::uuid
  ), ${id}::uuid)`;

/** Who made an entry, of those that joinActors() joins: the name of the user, courier or service token. Null for the service itself. */
export const ACTOR_NAME = sql`coalesce(u.full_name, c.name, t.name)`;

/**
 * The entries of one record as `e`: those before `page.before`, newest first, and one more to detect a next page. To be sorted again by a
 * statement that joins others.
 */
export const entriesOf = (
  ctx: UserScope,
  record: { entity: string; id: string },
  page: { before?: string | undefined; limit: number },
): Sql => sql`(
  select e.* from audit_entries e
  where ${allOf(
    tenantRows(ctx, 'e'),
    sql`e.entity = ${record.entity} and e.entity_id = ${record.id}::uuid`,
    page.before && isBeforeEntry(ctx, page.before),
  )}
  order by e.at desc, e.id desc ${limitPast(page.limit)}) e`;
