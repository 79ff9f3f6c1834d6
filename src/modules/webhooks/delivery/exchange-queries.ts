import { once, type Sql } from '../../../platform/db/statements.js';
import type { DeliveryQueue } from '../../../platform/queue/delivery-queues.js';
import type { SystemScope } from '../../../platform/db/scope.js';
import type { Exchange } from './exchange.js';

export type KeptExchange = Exchange & { delivery_id: string; number: number };

/** Inserts what was sent and answered in attempts. @param days until it is deleted */
export function insertExchanges(
  { tenantId }: SystemScope,
  { courierId }: DeliveryQueue,
  exchanges: KeptExchange[],
  days: number,
): Sql {
  return once`
    insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body, request_bytes,
      response_headers, response_body, response_is_cut, expires_at)
    select ${tenantId}::uuid, delivery_id, number, ${courierId}::uuid, url, request_headers, request_body, request_bytes,
      response_headers, response_body, response_is_cut, now() + make_interval(days => ${days}::int)
    from jsonb_to_recordset(${JSON.stringify(exchanges)}::jsonb) as kept
      (delivery_id uuid, number smallint, url text, request_headers jsonb, request_body text, request_bytes integer,
       response_headers jsonb, response_body text, response_is_cut boolean)
    on conflict (tenant_id, delivery_id, number) do nothing`;
}
