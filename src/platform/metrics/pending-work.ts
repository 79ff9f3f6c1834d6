import type { SystemContext } from '../context/request-context.js';
import { tenantRows } from '../db/filters.js';
import { sql, type Sql } from '../db/statements.js';

export type PendingRow = {
  tenant: string;
  courier: string | null;
  kind: 'webhook' | 'manifest mail' | 'account mail' | 'customer synchronisation';
  count: number;
  oldest: Date;
  newest: Date;
};

/** What waits to be sent or fetched, by courier and kind. Account mails belong to no courier. */
export function pendingWork(ctx: SystemContext): Sql<PendingRow> {
  return sql`
    with waiting as (
      select d.courier_id, 'webhook' as kind, d.created_at from webhook_deliveries d
      where ${tenantRows(ctx, 'd')} and d.status = 'pending'
      union all
      select m.courier_id, 'manifest mail', m.created_at from manifest_mails m
      where ${tenantRows(ctx, 'm')} and m.status = 'queued'
      union all
      select null, 'account mail', a.created_at from account_mails a
      where ${tenantRows(ctx, 'a')} and a.status = 'queued'
      union all
      select r.courier_id, 'customer synchronisation', r.created_at from customer_sync_runs r
      where ${tenantRows(ctx, 'r')} and r.status in ('queued', 'running')
    )
    select t.slug as tenant, c.code as courier, w.kind, count(*)::int as count,
      min(w.created_at) as oldest, max(w.created_at) as newest
    from waiting w join tenants t on t.id = ${ctx.tenantId}::uuid
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = w.courier_id
    group by 1, 2, 3 order by 2 nulls last, 3`;
}
