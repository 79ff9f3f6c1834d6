import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';

/** How synchronisations of customers go, one row per courier that has any. They are stored for 90 days, a few per day and courier. */
export const healthOfSyncs = (ctx: UserScope): Sql =>
  sql`
    select r.courier_id, max(r.last_success_at) as last_success_at,
      min(r.finished_at) filter (where r.status = 'failed' and r.finished_at > coalesce(r.last_success_at, '-infinity')) as failing_since,
      max(r.finished_at) filter (where r.status = 'failed') as last_failure_at,
      (array_agg(r.http_status order by r.finished_at desc) filter (where r.status = 'failed'))[1] as last_failure_status,
      (array_agg(r.error order by r.finished_at desc) filter (where r.status = 'failed'))[1] as last_failure_error,
      (count(*) filter (where r.status in ('queued', 'running')))::int as waiting,
      min(r.created_at) filter (where r.status in ('queued', 'running')) as oldest_waiting_at,
      (count(*) filter (where r.finished_at > now() - interval '24 hours'))::int as sent_24h,
      (count(*) filter (where r.finished_at > now() - interval '24 hours' and r.status = 'failed'))::int as failed_24h
    from (
      select r.*, max(r.finished_at) filter (where r.status = 'succeeded') over (partition by r.courier_id) as last_success_at
      from customer_sync_runs r where ${ownRows(ctx, 'r')}
    ) r
    group by r.courier_id`;
