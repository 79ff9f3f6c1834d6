import type { QueryOf, DataOf } from '../../../platform/contract/types.js';
import { allOf, ownRows, tenantRows } from '../../../platform/db/filters.js';
import { join, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { healthOfSyncs } from './sync-queries.js';

export type HealthQuery = QueryOf<'listWebhookHealth'>;
type Health = DataOf<'listWebhookHealth'>[number];

/** The contract's words, with times as the database has them. */
export type HealthRow = Pick<
  Health,
  | 'courier_id'
  | 'courier_code'
  | 'courier_name'
  | 'endpoint'
  | 'state'
  | 'waiting'
  | 'sent_24h'
  | 'failed_24h'
> &
  Record<
    'failing_since' | 'paused_at' | 'last_success_at' | 'last_failure_at' | 'oldest_waiting_at',
    Date | null
  > & {
    last_failure_outcome: NonNullable<Health['last_failure']>['outcome'];
    last_failure_status: number | null;
    last_failure_error: string | null;
    /** Decimal text. */
    failed_share_24h: string | null;
  };

/**
 * Selects the health of all matching URLs, in the order of the query. Reads the pending deliveries by their index, and the deliveries of the
 * last 24 hours by theirs, so that it does not depend on the length of the log.
 */
export const healthOfEndpoints = (ctx: UserScope, query: HealthQuery): Sql<HealthRow> =>
  sql`
    with waiting as (
      select d.courier_id, d.endpoint, count(*)::int as waiting, min(d.created_at) as oldest_waiting_at
      from webhook_deliveries d where ${ownRows(ctx, 'd')} and d.status = 'pending' group by d.courier_id, d.endpoint
    ), recent as (
      select d.courier_id, d.endpoint, count(*)::int as sent_24h, (count(*) filter (where d.status <> 'delivered'))::int as failed_24h
      from webhook_deliveries d
      where ${ownRows(ctx, 'd')} and d.created_at > now() - interval '24 hours' and (d.attempt_count > 0 or d.status = 'failed')
      group by d.courier_id, d.endpoint
    ), reported as (
      select e.courier_id, e.endpoint, e.failing_since, e.paused_at, e.last_success_at, e.last_failure_at,
        e.last_failure_outcome, e.last_failure_status, e.last_failure_error,
        null::int as waiting, null::timestamptz as oldest_waiting_at, null::int as sent_24h, null::int as failed_24h
      from webhook_endpoints e where ${ownRows(ctx, 'e')}
      union all
      select s.courier_id, 'get_customers', s.failing_since, null, s.last_success_at, s.last_failure_at,
        null, s.last_failure_status, s.last_failure_error, s.waiting, s.oldest_waiting_at, s.sent_24h, s.failed_24h
      from (${healthOfSyncs(ctx)}) s
    ), endpoints as (
      select c.id as courier_id, c.code as courier_code, c.name as courier_name, u.endpoint,
        case when u.url is null then 'none' when r.paused_at is not null then 'paused'
          when r.failing_since is not null then 'failing' else 'active' end as state,
        case when u.url is not null then r.failing_since end as failing_since, r.paused_at, r.last_success_at, r.last_failure_at, r.last_failure_outcome, r.last_failure_status,
        r.last_failure_error, coalesce(r.waiting, w.waiting, 0) as waiting,
        coalesce(r.oldest_waiting_at, w.oldest_waiting_at) as oldest_waiting_at,
        coalesce(r.sent_24h, t.sent_24h, 0) as sent_24h, coalesce(r.failed_24h, t.failed_24h, 0) as failed_24h
      from couriers c
      cross join lateral (values ('add_package', c.api_url_add_package), ('update_package', c.api_url_update_package),
        ('get_customers', c.api_url_get_customers)) as u (endpoint, url)
      left join reported r on r.courier_id = c.id and r.endpoint = u.endpoint
      left join waiting w on w.courier_id = c.id and w.endpoint = u.endpoint
      left join recent t on t.courier_id = c.id and t.endpoint = u.endpoint
      where ${courierRows(ctx)} and c.is_active
    )
    select h.* from (
      select e.*, round(e.failed_24h::numeric / nullif(e.sent_24h, 0), 3) as failed_share_24h from endpoints e
    ) h
    where ${matching(ctx, query)}
    order by ${orderOf(query)}`;

/** A courier sees only itself. */
const courierRows = (ctx: UserScope): Sql =>
  allOf(tenantRows(ctx, 'c'), ctx.caller.courierId !== null && sql`c.id = ${ctx.caller.courierId}::uuid`);

const matching = (ctx: UserScope, { courier_id, endpoint, state }: HealthQuery): Sql =>
  allOf(
    sql`true`,
    ctx.caller.courierId === null && courier_id && sql`h.courier_id = ${courier_id}::uuid`,
    endpoint && sql`h.endpoint = ${endpoint}`,
    state && sql`h.state = ${state}`,
  );

const SORTS = {
  courier_name: sql`h.courier_name`,
  failing_since: sql`h.failing_since`,
  waiting: sql`h.waiting`,
  // Without a share, as if it were below all others.
  failed_share_24h: sql`coalesce(h.failed_share_24h, -1)`,
} satisfies Record<NonNullable<HealthQuery['sort_by']>, Sql>;

/** The most urgent first: what is paused, then what fails for longest, then what has most webhooks waiting. */
const URGENCY = [
  sql`array_position(array['paused', 'failing', 'active', 'none'], h.state)`,
  sql`h.failing_since`,
  sql`-h.waiting`,
];

function orderOf({ sort_by, sort_dir }: HealthQuery): Sql {
  const columns = [
    ...(sort_by ? [SORTS[sort_by]] : URGENCY),
    sql`h.courier_name`,
    sql`h.courier_id`,
    sql`h.endpoint`,
  ];
  const direction = sort_dir === 'ASC' ? sql`asc` : sql`desc`;
  return join(
    columns.map((column) => sql`${column} ${direction}`),
    ', ',
  );
}
