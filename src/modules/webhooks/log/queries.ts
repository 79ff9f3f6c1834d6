import type { DataOf, QueryOf } from '../../../platform/contract/types.js';
import { allOf, fromDay, ownRows, tenantRows, untilDay, UTC } from '../../../platform/db/filters.js';
import { columns } from '../../../platform/db/columns.js';
import { isCommonLimit, limitPast } from '../../../platform/db/pages.js';
import { onceIf, sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { readableTypes } from '../../couriers/public.js';

export type DeliveryQuery = QueryOf<'listWebhookDeliveries'>;

const DELIVERY = columns('WebhookDelivery', 'd', [
  'id',
  'eventId',
  'courierId',
  'endpoint',
  'origin',
  'status',
  'attemptCount',
  'nextAttemptAt',
  'lastHttpStatus',
  'createdAt',
  'settledAt',
]);
const EVENT = columns('Event', 'e', ['type', 'packageId']);

/** A stored delivery with its event and its attempts. */
export type DeliveryRow = RowOf<typeof DELIVERY> &
  RowOf<typeof EVENT> &
  // The contract's words for the columns, and its format of the attempts.
  Pick<DataOf<'listWebhookDeliveries'>[number], 'type' | 'endpoint' | 'origin' | 'status' | 'attempts'> & {
    courierName: string;
    /** As text; null for a test. */
    sequence: string | null;
  };

/** Selects the page before `query.before`, newest first, and one row more to detect a next page. */
export function pageOfDeliveries(ctx: UserScope, query: DeliveryQuery, zone = UTC): Sql<DeliveryRow> {
  return onceIf(isCommonFirstPage(query))`${deliveriesOf(
    ctx,
    // The page is cut first, so that names, events and attempts are read only for its rows.
    sql`select d.* from webhook_deliveries d where ${matching(ctx, query, zone)}
      order by d.created_at desc, d.id desc ${limitPast(query.limit)}`,
  )}`;
}

export const oneDelivery = (ctx: UserScope, id: string): Sql<DeliveryRow> =>
  deliveriesOf(
    ctx,
    sql`select d.* from webhook_deliveries d
      where ${allOf(ownRows(ctx, 'd'), sql`d.id = ${id}::uuid`, ofReadableEvent(ctx))}`,
  );

/** What was sent and answered in an attempt, in the contract's words. */
export type ExchangeRow = DataOf<'getWebhookDelivery'>['exchanges'][number];

export const exchangesOf = (ctx: UserScope, deliveryId: string): Sql<ExchangeRow> =>
  sql`
    select x.number::int as number, jsonb_build_object('url', x.url, 'headers', x.request_headers, 'body', x.request_body,
        'body_bytes', x.request_bytes) as request,
      case when x.response_body is not null then jsonb_build_object('headers', x.response_headers,
        'headers_are_cut', x.response_headers_are_cut, 'body', x.response_body, 'is_cut', x.response_is_cut) end as response
    from webhook_exchanges x where ${ownRows(ctx, 'x')} and x.delivery_id = ${deliveryId}::uuid
    order by x.number`;

function deliveriesOf(ctx: UserScope, rows: Sql): Sql<DeliveryRow> {
  return sql`
    select ${DELIVERY}, ${EVENT}, e.sequence::text as sequence, c.name as "courierName", a.attempts
    from (${rows}) d
    join events e on ${ownRows(ctx, 'e')} and e.tenant_id = d.tenant_id and e.id = d.event_id
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = d.tenant_id and c.id = d.courier_id
    cross join lateral (
      select coalesce(jsonb_agg(jsonb_build_object('number', a.number,
          'started_at', to_char(a.started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
          'duration_ms', a.duration_ms, 'outcome', a.outcome, 'http_status', a.http_status,
          'response_start', a.response_start, 'error', a.error) order by a.number), '[]') as attempts
      from webhook_attempts a
      where ${ownRows(ctx, 'a')} and a.tenant_id = d.tenant_id and a.delivery_id = d.id
    ) a
    order by d.created_at desc, d.id desc`;
}

/** Whether the page is a first page of all deliveries, of a common size. */
const isCommonFirstPage = ({ limit, day_zone: _, ...filters }: DeliveryQuery): boolean =>
  isCommonLimit(limit) && !Object.values(filters).some(Boolean);

const matching = (ctx: UserScope, query: DeliveryQuery, zone: string): Sql =>
  allOf(
    ownRows(ctx, 'd'),
    ofReadableEvent(ctx),
    // A courier sees only its own deliveries, whatever courier_id says.
    ctx.caller.courierId === null && query.courier_id && sql`d.courier_id = ${query.courier_id}::uuid`,
    query.status && sql`d.status = ${query.status}`,
    query.endpoint && sql`d.endpoint = ${query.endpoint}`,
    query.event_id && sql`d.event_id = ${query.event_id}::uuid`,
    query.type && ofType(ctx, query.type),
    query.package_id && ofEvent(ctx, sql`e.package_id = ${query.package_id}::uuid`),
    query.from && fromDay(sql`d.created_at`, query.from, zone),
    query.to && untilDay(sql`d.created_at`, query.to, zone),
    query.before &&
      sql`(d.created_at, d.id) < ((
        select b.created_at from webhook_deliveries b where ${ownRows(ctx, 'b')} and b.id = ${query.before}::uuid
      ), ${query.before}::uuid)`,
  );

/** Tests are few and have an index. */
const ofType = (ctx: UserScope, type: NonNullable<DeliveryQuery['type']>): Sql =>
  type === 'webhook.test' ? sql`d.origin = 'test'` : ofEvent(ctx, sql`e.type = ${type}`);

/** Whether the event of the delivery `d` fulfils a condition. */
export const ofEvent = (ctx: UserScope, condition: Sql): Sql =>
  sql`exists (select from events e where ${ownRows(ctx, 'e')} and e.tenant_id = d.tenant_id and e.id = d.event_id
    and ${condition})`;

/** Whether the caller may read the event of the delivery `d`. Undefined if the caller may read all types. */
export function ofReadableEvent(ctx: UserScope): Sql | undefined {
  const readable = readableTypes(ctx, 'e');
  return readable && ofEvent(ctx, readable);
}
