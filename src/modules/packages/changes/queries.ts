import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { allOf, tenantRows } from '../../../platform/db/filters.js';
import type { AuditEntry } from '../../../platform/db/models/types.js';
import { limitPast } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

export type ChangesQuery = QueryOf<'listPackageChanges'>;

type Shown = DataOf<'listPackageChanges'>[number];

export type ChangeRow = Pick<AuditEntry, 'id' | 'at' | 'action' | 'remarks'> &
  Pick<Shown, 'before' | 'after'> & { changedBy: string | null };

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export const pageOfChanges = (ctx: UserScope, query: ChangesQuery): Sql<ChangeRow> =>
  sql`select e.id, e.at, e.action, e.before, e.after, e.remarks,
      coalesce(u.full_name, c.name, t.name) as "changedBy"
    from audit_entries e
    left join users u on ${tenantRows(ctx, 'u')} and u.tenant_id = e.tenant_id
      and e.actor_kind = 'user' and u.id = e.actor_id
    left join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = e.tenant_id
      and e.actor_kind = 'api_key' and c.id = e.actor_id
    left join service_tokens t on ${tenantRows(ctx, 't')} and t.tenant_id = e.tenant_id
      and e.actor_kind = 'api_key' and t.id = e.actor_id
    where ${allOf(
      tenantRows(ctx, 'e'),
      sql`e.entity = 'package' and e.entity_id = ${query.package_id}::uuid`,
      query.before &&
        sql`(e.at, e.id) < ((
          select b.at from audit_entries b where ${tenantRows(ctx, 'b')} and b.id = ${query.before}::uuid
        ), ${query.before}::uuid)`,
    )}
    order by e.at desc, e.id desc ${limitPast(query.limit)}`;
