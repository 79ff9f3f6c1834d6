import { tenantRows } from '../../../platform/db/filters.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import type { Exchange } from './exchange.js';

export type KeptExchange = Exchange & { delivery_id: string; number: number };

/**
 * What is left of the budget of a URL. It is counted per courier and endpoint, so that a change of the URL does not renew it, in
 * `courier_quotas`, which retention empties.
 */
export type ExchangeBudget = {
  /** The bytes that were kept since the day began, in UTC. */
  usedBytes: number;
  /** Whether an exchange of a failure or a test was kept since the hour began. */
  hasFailure: boolean;
};

const START_OF_DAY = sql`date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'`;
const START_OF_HOUR = sql`date_trunc('hour', now() at time zone 'UTC') at time zone 'UTC'`;
const bytesOf = ({ endpoint }: DeliveryQueue) => `exchange_bytes_${endpoint}`;
const failuresOf = ({ endpoint }: DeliveryQueue) => `exchange_failures_${endpoint}`;

/** The columns of an ExchangeBudget. */
export function usedBudget(ctx: SystemScope, queue: DeliveryQueue): Sql {
  const ofQueue = sql`${tenantRows(ctx, 'q')} and q.courier_id = ${queue.courierId}::uuid`;
  return sql`coalesce((select q.used::float8 from courier_quotas q
        where ${ofQueue} and q.kind = ${bytesOf(queue)} and q.period_start = ${START_OF_DAY}), 0) as "usedBytes",
      exists (select from courier_quotas q
        where ${ofQueue} and q.kind = ${failuresOf(queue)} and q.period_start = ${START_OF_HOUR}) as "hasFailure"`;
}

/** What to insert, and what of it counts against the budget. */
export type ChosenExchanges = { kept: KeptExchange[]; bytes: number; failures: number };

/** Inserts what was sent and answered in attempts, and counts it. @param days until it is deleted */
export function insertExchanges(
  { tenantId }: SystemScope,
  queue: DeliveryQueue,
  { kept, bytes, failures }: ChosenExchanges,
  days: number,
): Sql {
  const courier = sql`${queue.courierId}::uuid`;
  return once`
    with spent as (
      insert into courier_quotas as q (tenant_id, courier_id, kind, period_start, used)
      select ${tenantId}::uuid, ${courier}, amount.kind, amount.since, amount.used
      from (values (${bytesOf(queue)}, ${START_OF_DAY}, ${bytes}::int), (${failuresOf(queue)}, ${START_OF_HOUR}, ${failures}::int))
        as amount (kind, since, used)
      where amount.used > 0
      on conflict (tenant_id, courier_id, kind, period_start) do update set used = q.used + excluded.used
    )
    insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body, request_bytes,
      response_headers, response_headers_are_cut, response_body, response_is_cut, expires_at)
    select ${tenantId}::uuid, delivery_id, number, ${courier}, url, request_headers, request_body, request_bytes,
      response_headers, response_headers_are_cut, response_body, response_is_cut, now() + make_interval(days => ${days}::int)
    from jsonb_to_recordset(${JSON.stringify(kept)}::jsonb) as kept
      (delivery_id uuid, number smallint, url text, request_headers jsonb, request_body text, request_bytes integer,
       response_headers jsonb, response_headers_are_cut boolean, response_body text, response_is_cut boolean)
    on conflict (tenant_id, delivery_id, number) do nothing`;
}
