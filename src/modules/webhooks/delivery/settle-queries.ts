import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { AttemptOutcome } from '../../../platform/metrics/outbound.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { SystemScope } from '../../../platform/db/scope.js';

/** The result of one attempt. */
export type AttemptResult = {
  delivery_id: string;
  number: number;
  started_at: string;
  duration_ms: number;
  outcome: AttemptOutcome;
  http_status: number | null;
  response_start: string | null;
  error: string | null;
  /** The delay of the next attempt; null for none. */
  retry_after_s: number | null;
  /** See ClaimedRow. */
  synced_package_id: string | null;
  is_test: boolean;
};

const resultsTable = (
  results: AttemptResult[],
) => sql`jsonb_to_recordset(${JSON.stringify(results)}::jsonb) as result
  (delivery_id uuid, number smallint, started_at timestamptz, duration_ms integer, outcome text, http_status smallint,
   response_start text, error text, retry_after_s integer)`;

/** Inserts the attempts, one row each. */
export function insertAttempts(
  { tenantId }: SystemScope,
  { courierId }: DeliveryQueue,
  results: AttemptResult[],
): Sql {
  return once`
    insert into webhook_attempts
      (tenant_id, delivery_id, number, courier_id, started_at, duration_ms, outcome, http_status, response_start, error)
    select ${tenantId}::uuid, delivery_id, number, ${courierId}::uuid, started_at, duration_ms, outcome,
      http_status, response_start, error
    from ${resultsTable(results)}
    on conflict (tenant_id, delivery_id, number) do nothing`;
}

/** A delivery that was not sent because of the outbound rate limit of its URL. */
export type Postponed = { delivery_id: string; after_ms: number };

/** Releases the claims and postpones the deliveries. No attempt is counted. */
export function postponeDeliveries(ctx: SystemScope, postponed: Postponed[]): Sql {
  return once`
    update webhook_deliveries d
    set claimed_until = null, next_attempt_at = now() + make_interval(secs => later.after_ms / 1000.0)
    from jsonb_to_recordset(${JSON.stringify(postponed)}::jsonb) as later (delivery_id uuid, after_ms integer)
    where ${tenantRows(ctx, 'd')} and d.id = any(${postponed.map((each) => each.delivery_id)}::uuid[])
      and d.id = later.delivery_id and d.status = 'pending'`;
}

/** Settles the deliveries or schedules their retries. */
export function settleDeliveries(ctx: SystemScope, results: AttemptResult[]): Sql {
  return once`
    update webhook_deliveries d
    set attempt_count = result.number, last_http_status = result.http_status, claimed_until = null,
      status = case when result.outcome = 'delivered' then 'delivered'
        when result.retry_after_s is null then 'failed' else 'pending' end,
      next_attempt_at = case when result.outcome <> 'delivered' then now() + make_interval(secs => result.retry_after_s) end,
      settled_at = case when result.outcome = 'delivered' or result.retry_after_s is null then now() end
    from ${resultsTable(results)}
    -- The ids again, because PostgreSQL does not know how few rows a JSON array has, and would read all pending deliveries.
    where ${tenantRows(ctx, 'd')} and d.id = any(${idsOf(results)}::uuid[])
      and d.id = result.delivery_id and d.status = 'pending'`;
}

/**
 * Updates the synchronisations of the settled deliveries among these. By the packages' ids, because the ids of jobs have no
 * index: in each settlement PostgreSQL would read all synchronisations of the tenant.
 */
export function settleSyncs(ctx: SystemScope, results: AttemptResult[]): Sql {
  const packageIds = results.flatMap(({ synced_package_id: id }) => id ?? []);
  return once`
    update package_syncs s
    set status = case d.status when 'delivered' then 'sent' else 'failed' end, settled_at = now()
    from webhook_deliveries d
    where ${tenantRows(ctx, 'd')} and d.id = any(${idsOf(results)}::uuid[]) and d.status <> 'pending'
      and ${tenantRows(ctx, 's')} and s.package_id = any(${packageIds}::uuid[]) and s.job_id = d.sync_job_id
      -- one that had failed may be sent by a redelivery
      and s.status in ('sending', 'failed')`;
}

const idsOf = (results: AttemptResult[]) => results.map((each) => each.delivery_id);

/** A URL is paused after this many hours without a success. Source: the contract, "Webhooks and events". */
export const PAUSE_AFTER_HOURS = 48;

/** Updates the health of the URL. A success resets the number of failures and ends a pause. */
export function recordHealth(
  { tenantId }: SystemScope,
  { courierId, endpoint }: DeliveryQueue,
  results: AttemptResult[],
): Sql {
  const failed = results.filter(({ outcome }) => outcome !== 'delivered');
  const failures = failed.length;
  const hasSuccess = failures < results.length;
  const last = failed.at(-1);
  return once`
    insert into webhook_endpoints as e
      (tenant_id, courier_id, endpoint, failures, failing_since, last_failure_at, last_success_at,
        last_failure_outcome, last_failure_status, last_failure_error)
    values (${tenantId}::uuid, ${courierId}::uuid, ${endpoint},
      ${hasSuccess ? 0 : failures}::int, ${hasSuccess ? sql`null` : sql`now()`},
      ${failures > 0 ? sql`now()` : sql`null`}, ${hasSuccess ? sql`now()` : sql`null`},
      ${last?.outcome ?? null}::text, ${last?.http_status ?? null}::smallint, ${last?.error ?? null}::text)
    on conflict (tenant_id, courier_id, endpoint) do update set
      failures = case when ${hasSuccess}::boolean then 0 else e.failures + excluded.failures end,
      failing_since = case when ${hasSuccess}::boolean then null else coalesce(e.failing_since, now()) end,
      last_failure_at = coalesce(excluded.last_failure_at, e.last_failure_at),
      last_success_at = coalesce(excluded.last_success_at, e.last_success_at),
      last_failure_outcome = case when ${failures > 0}::boolean then excluded.last_failure_outcome else e.last_failure_outcome end,
      last_failure_status = case when ${failures > 0}::boolean then excluded.last_failure_status else e.last_failure_status end,
      last_failure_error = case when ${failures > 0}::boolean then excluded.last_failure_error else e.last_failure_error end,
      paused_at = case when ${hasSuccess}::boolean then null
        when e.paused_at is null and e.failing_since < now() - make_interval(hours => ${PAUSE_AFTER_HOURS}::int) then now()
        else e.paused_at end`;
}
