import { DEMO } from '../../../../fixtures/demo/seed.js';
import { rounds } from '../../../support/harness/effort.js';
import { insertDelivery, insertEvent } from '../../../support/builders/deliveries.js';
import { unchecked } from '../../../support/fixture/sent.js';
import type { Fixture } from '../../../support/fixture/with-service.js';

const { TWO } = DEMO.couriers;

export const PARTNER = 'https://partner.example/hooks';

export const CALLERS = rounds(40, 100);

export const idsIn = ({ data }: { data: { delivery_id: string }[] }) =>
  data.map(({ delivery_id }) => delivery_id);

/** Calls and planted rows for tests of webhook management. */
export function makeDeliveries({ api, db, service }: Fixture) {
  const setUrls = (url: string | null) =>
    db.query('update couriers set api_url_add_package = $1, api_url_update_package = $1', [url]);

  /** Runs a call while no courier has a URL. */
  async function withoutUrls<Result>(call: () => Promise<Result>): Promise<Result> {
    await setUrls(null);
    try {
      return await call();
    } finally {
      await setUrls(PARTNER);
    }
  }

  const list = (as: string, query: Record<string, string | number | null> = {}) =>
    api.as(as).listWebhookDeliveries(unchecked(query));
  const manage = (as: string, body: object) => api.as(as).manageWebhookDeliveries(unchecked(body));

  const insertFor = (courierId: string, type: 'package.created' | 'package.updated' = 'package.created') =>
    insertEvent(service().owner, {
      courierId,
      type,
      tenantId: courierId === TWO ? DEMO.tenants.two : DEMO.tenants.demo,
    });
  const insertSent = async (courierId: string, inserted: object = {}) =>
    insertDelivery(service().owner, { eventId: await insertFor(courierId), ...inserted });

  const pause = (courierId: string, endpoint: string) =>
    db.query(
      `insert into webhook_endpoints (tenant_id, courier_id, endpoint, failing_since, failures, last_failure_at, paused_at)
     select tenant_id, id, $2, now() - interval '3 days', 40, now(), now() from couriers where id = $1`,
      [courierId, endpoint],
    );

  const rowsOf = (eventId: string) => db.all('webhook_deliveries', { event_id: eventId });

  /** Returns the keys of the delivery queues that a worker will process. */
  const wokenDeliveryQueues = async () =>
    (await db.query<{ key: string }>('select key from graphile_worker._private_jobs order by key')).map(
      ({ key }) => key,
    );

  const lastAudit = async () =>
    (
      await db.query(
        'select action, entity, entity_id, actor_id, after from audit_entries order by id desc limit 1',
      )
    )[0];

  return {
    manage,
    list,
    insertFor,
    insertSent,
    setUrls,
    withoutUrls,
    pause,
    rowsOf,
    wokenDeliveryQueues,
    lastAudit,
  };
}
