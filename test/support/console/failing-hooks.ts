import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { insertDelivery, insertEvent } from '../builders/deliveries.js';

const { IEX } = DEMO.couriers;

/** Plants a courier whose system has refused three webhooks, with what was sent and answered. Returns the ids of the deliveries. */
export async function plantFailingHooks(owner: pg.Pool): Promise<string[]> {
  await owner.query(
    'update couriers set api_url_add_package = $2, api_url_update_package = $2 where id = $1',
    [IEX, 'https://partner.example/hooks'],
  );
  await owner.query(
    `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failures, failing_since, last_failure_at,
       last_failure_outcome, last_failure_status, last_failure_error)
     values ($1, $2, 'add_package', 3, now() - interval '2 hours', now(), 'rejected', 422, null)
     on conflict (tenant_id, courier_id, endpoint) do nothing`,
    [DEMO.tenants.demo, IEX],
  );
  const ids: string[] = [];
  for (let index = 0; index < 3; index += 1) {
    const eventId = await insertEvent(owner);
    ids.push(await insertDelivery(owner, { eventId, status: 'failed', attempts: 1 }));
  }
  await owner.query(
    `insert into webhook_exchanges (tenant_id, delivery_id, number, courier_id, url, request_headers, request_body, request_bytes,
       response_headers, response_headers_are_cut, response_body, expires_at)
     select tenant_id, id, 1, courier_id, 'https://partner.example/hooks', '{"authorization": "***"}', '{"type":"package.created"}', 26,
       '{"content-type": "text/plain"}', true, 'Unknown customer IEX-1001', now() + interval '1 day'
     from webhook_deliveries where id = any($1)`,
    [ids],
  );
  return ids;
}
