import type { SystemScope } from '../../../platform/db/scope.js';
import { tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { WebhookMailKind } from '../../mail/public.js';
import { PAUSE_AFTER_HOURS } from '../delivery/settle-queries.js';

/** A receiver that is started again, or one lost response, is told to nobody. */
const FIRST = { minutes: 15, failures: 3 };
/** The owners have a night to mend it. */
const BEFORE_PAUSE_HOURS = 12;
/** If so many couriers have begun to fail within a day, and nobody has accepted anything within an hour, the cause is here. */
const MANY = 5;
/** At a time. */
const MOST = 100;
/** To a courier in 24 hours: both URLs at first, before and at their pause, for six people. They use up none of the mails about accounts. */
const MAILS_PER_DAY = 36;

export type Told = {
  courierId: string;
  endpoint: string;
  kind: WebhookMailKind;
  email: string | null;
  /** The mails that are left. */
  atMost: number;
};

/** Notes the URLs whose owners must be told how far their failures have gone, and returns them. */
export const noteTold = (ctx: SystemScope): Sql<Told> => sql`
  with sent as (
    select m.courier_id, m.endpoint, m.kind
    from account_mails m
    where ${tenantRows(ctx, 'm')} and m.created_at > now() - interval '24 hours' and m.endpoint is not null
  ), state as (
    select count(distinct e.courier_id) filter (where e.failing_since > now() - interval '1 day') as failing,
      coalesce(bool_or(e.last_success_at > now() - interval '1 hour'), false) as is_any_accepted
    from webhook_endpoints e join couriers c on ${tenantRows(ctx, 'c')} and c.id = e.courier_id and c.is_active
    where ${tenantRows(ctx, 'e')}
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
      and (s.stage <> 'webhook_failing' or state.failing < ${MANY}::int or state.is_any_accepted)
      -- Once in 24 hours, also if the receiver fails now and then. A change of the URL deletes its row.
      and (s.stage <> 'webhook_failing' or not exists (
        select from sent where sent.kind = s.stage and sent.endpoint = e.endpoint and sent.courier_id = e.courier_id))
      and case e.endpoint when 'add_package' then c.api_url_add_package else c.api_url_update_package end is not null
    order by e.failing_since limit ${MOST} for update of e skip locked
  )
  update webhook_endpoints e
  set told_since = e.failing_since, told_stage = due.stage
  from due
  where ${tenantRows(ctx, 'e')} and e.courier_id = due.courier_id and e.endpoint = due.endpoint
  returning e.courier_id as "courierId", e.endpoint, due.stage as kind, due.email,
    ${MAILS_PER_DAY}::int - (select count(*)::int from sent where sent.courier_id = e.courier_id) as "atMost"`;
