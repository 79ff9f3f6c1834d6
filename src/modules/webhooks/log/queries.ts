import type { UserCaller } from '../../../platform/identity/callers.js';
import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { join, sql, type Db, type Sql } from '../../../platform/db/transaction.js';

export type DeliveryQuery = QueryOf<'listWebhookDeliveries'>;

type Delivery = DataOf<'listWebhookDeliveries'>[number];

/** A stored delivery with its event and its attempts. The attempts have the contract's format. */
export type DeliveryRow = Pick<
  Delivery,
  | 'event_id'
  | 'type'
  | 'package_id'
  | 'courier_id'
  | 'courier_name'
  | 'endpoint'
  | 'origin'
  | 'status'
  | 'attempt_count'
  | 'last_http_status'
  | 'attempts'
> & {
  id: string;
  /** A bigint, as text. */
  sequence: string | null;
  next_attempt_at: Date | null;
  created_at: Date;
  settled_at: Date | null;
};

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export function pageOfDeliveries(db: Db, caller: UserCaller, query: DeliveryQuery): Sql {
  // The page is cut first, so that names, events and attempts are read only for its rows.
  return sql`
    select d.id, d.event_id, e.type, e.sequence, e.package_id, d.courier_id, c.name as courier_name, d.endpoint, d.origin,
      d.status, d.attempt_count, d.next_attempt_at, d.last_http_status, d.created_at, d.settled_at, a.attempts
    from (
      select d.* from webhook_deliveries d where ${matching(db, caller, query)}
      order by d.created_at desc, d.id desc limit ${query.limit}::int + 1
    ) d
    join events e on ${ownRows(db, caller, 'e')} and e.tenant_id = d.tenant_id and e.id = d.event_id
    join couriers c on ${tenantRows(db, caller, 'c')} and c.tenant_id = d.tenant_id and c.id = d.courier_id
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('number', a.number,
          'started_at', to_char(a.started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
          'duration_ms', a.duration_ms, 'outcome', a.outcome, 'http_status', a.http_status,
          'response_start', a.response_start, 'error', a.error) order by a.number), '[]') as attempts
      from webhook_attempts a
      where ${ownRows(db, caller, 'a')} and a.tenant_id = d.tenant_id and a.delivery_id = d.id
    ) a
    order by d.created_at desc, d.id desc`;
}

function matching(db: Db, caller: UserCaller, query: DeliveryQuery): Sql {
  const isStaff = caller.courierId === null;
  const conditions = [ownRows(db, caller, 'd')];
  // A courier only ever sees its own deliveries, whatever courier_id says.
  if (isStaff && query.courier_id) conditions.push(sql`d.courier_id = ${query.courier_id}::uuid`);
  if (query.status) conditions.push(sql`d.status = ${query.status}`);
  if (query.endpoint) conditions.push(sql`d.endpoint = ${query.endpoint}`);
  if (query.event_id) conditions.push(sql`d.event_id = ${query.event_id}::uuid`);
  // Tests are few and have an index.
  if (query.type === 'webhook.test') conditions.push(sql`d.origin = 'test'`);
  else if (query.type) conditions.push(ofEvent(db, caller, sql`e.type = ${query.type}`));
  if (query.package_id) conditions.push(ofEvent(db, caller, sql`e.package_id = ${query.package_id}::uuid`));
  if (query.from) conditions.push(sql`d.created_at >= ${query.from}::date::timestamp at time zone 'UTC'`);
  if (query.to) conditions.push(sql`d.created_at < (${query.to}::date + 1)::timestamp at time zone 'UTC'`);
  if (query.before)
    conditions.push(sql`(d.created_at, d.id) < ((
      select b.created_at from webhook_deliveries b where ${ownRows(db, caller, 'b')} and b.id = ${query.before}::uuid
    ), ${query.before}::uuid)`);
  return join(conditions, ' and ');
}

const ofEvent = (db: Db, caller: UserCaller, condition: Sql): Sql =>
  sql`exists (select from events e where ${ownRows(db, caller, 'e')} and e.tenant_id = d.tenant_id and e.id = d.event_id
    and ${condition})`;
