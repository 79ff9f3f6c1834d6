import type { SystemScope } from '../../../platform/db/scope.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { WebhookMailKind } from '../../mail/public.js';
import { PAUSE_AFTER_HOURS } from '../delivery/settle-queries.js';

/** A receiver that is started again, or one lost response, is told to nobody. */
const FIRST = { minutes: 15, failures: 3 };
/** A receiver that fails now and then causes a mail about first failures once within so many hours. */
const FIRST_AGAIN_HOURS = 24;
/** The owners have a night to mend it. */
const BEFORE_PAUSE_HOURS = 12;
/** If so many URLs fail and none has accepted anything within an hour, the cause is here. */
const MANY = 5;
/** At a time. */
const MOST = 100;

export type Told = { courierId: string; endpoint: string; kind: WebhookMailKind; email: string | null };

/** Notes the URLs whose owners must be told how far their failures have gone, and returns them. */
export const noteTold = (ctx: SystemScope): Sql<Told> => sql`
  with state as (
    select count(*) filter (where e.failing_since is not null) as failing,
      coalesce(bool_or(e.last_success_at > now() - interval '1 hour'), false) as is_any_accepted
    from webhook_endpoints e where ${tenantRows(ctx, 'e')}
  ), due as (
    select e.courier_id, e.endpoint, s.stage, c.email
    from webhook_endpoints e
    join couriers c on ${tenantRows(ctx, 'c')} and c.id = e.courier_id and c.is_active
    cross join lateral (select case
      when e.paused_at is not null then 'webhook_paused'
      when e.failing_since < now() - make_interval(hours => ${PAUSE_AFTER_HOURS - BEFORE_PAUSE_HOURS}::int) then 'webhook_pausing'
      when e.failures >= ${FIRST.failures}::int and e.failing_since < now() - make_interval(mins => ${FIRST.minutes}::int)
        then 'webhook_failing' end as stage) s
    cross join state
    where ${tenantRows(ctx, 'e')} and e.failing_since is not null and s.stage is not null
      and (e.told_since is distinct from e.failing_since or e.told_stage is distinct from s.stage)
      and (s.stage <> 'webhook_failing' or e.first_told_at is null
        or e.first_told_at < now() - make_interval(hours => ${FIRST_AGAIN_HOURS}::int))
      and (state.failing < ${MANY}::int or state.is_any_accepted)
      and case e.endpoint when 'add_package' then c.api_url_add_package else c.api_url_update_package end is not null
    order by e.failing_since limit ${MOST} for update of e skip locked
  )
  update webhook_endpoints e
  set told_since = e.failing_since, told_stage = due.stage,
    first_told_at = case when due.stage = 'webhook_failing' then now() else e.first_told_at end
  from due
  where ${tenantRows(ctx, 'e')} and e.courier_id = due.courier_id and e.endpoint = due.endpoint
  returning e.courier_id as "courierId", e.endpoint, due.stage as kind, due.email`;
