import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import type { FeedRefusal } from '../../platform/db/models/types.js';
import { limitTo } from '../../platform/db/pages.js';
import type { SystemScope, UserScope } from '../../platform/db/scope.js';
import { once, sql, type Sql } from '../../platform/db/statements.js';
import { newId } from '../../platform/values/ids.js';

/** Why a parcel is not announced. The contract's list is open. */
export type RefusalReason =
  | 'no_user_code'
  | 'unknown_user_code'
  | 'several_customers'
  | 'invalid_tracking_number'
  | 'other_customer'
  | 'too_many_numbers';

/** A customer that an order may mean. */
export type NamedCustomer = { id: string; userCode: string; isActive: boolean };

type OrderFeed = { id: string; courierId: string; customerId: string | null };

/** Selects the customers of the feed's courier with one of the codes, and the one of the feed. */
export const customersOfOrder = (
  ctx: SystemScope,
  { courierId, customerId }: OrderFeed,
  codes: readonly string[],
): Sql<NamedCustomer> =>
  once`select cu.id, cu.user_code as "userCode", cu.is_active as "isActive" from customers cu
    where ${tenantRows(ctx, 'cu')} and cu.courier_id = ${courierId}::uuid
      and (cu.user_code = any(${codes}::text[]) or cu.id = ${customerId}::uuid)`;

/** Selects which of the parcels of an order were announced by it. */
export const parcelsOfEvents = (
  ctx: SystemScope,
  { id }: Pick<OrderFeed, 'id'>,
  keys: readonly string[],
): Sql<{ key: string }> =>
  once`select e.event_key as key from feed_events e
    where ${tenantRows(ctx, 'e')} and e.feed_id = ${id}::uuid and e.event_key = any(${keys}::text[])`;

/** Stores that parcels of an order are announced. Sorted, because two events of one order can arrive together. */
export const insertParcels = (
  { tenantId }: SystemScope,
  { id, courierId }: OrderFeed,
  keys: readonly string[],
): Sql =>
  once`insert into feed_events (tenant_id, feed_id, event_key, courier_id)
    select ${tenantId}::uuid, ${id}::uuid, key, ${courierId}::uuid from unnest(${keys}::text[]) as key order by key
    on conflict do nothing`;

/** Forgets that an event has arrived, so that a repetition is tried again. */
export const deleteEvent = (ctx: SystemScope, { id }: Pick<OrderFeed, 'id'>, eventKey: string): Sql =>
  once`delete from feed_events e where ${tenantRows(ctx, 'e')} and e.feed_id = ${id}::uuid and e.event_key = ${eventKey}::text`;

export type NewRefusal = Pick<FeedRefusal, 'refusalKey' | 'reference' | 'trackingNumber'> & {
  reason: RefusalReason;
};

/** Stores refused parcels, each once. The latest reason counts. */
export const storeRefusals = (
  { tenantId }: SystemScope,
  { id, courierId }: OrderFeed,
  refusals: readonly NewRefusal[],
): Sql => {
  const rows = refusals.map((refusal) => ({
    id: newId(),
    refusal_key: refusal.refusalKey,
    reference: refusal.reference,
    tracking_number: refusal.trackingNumber,
    reason: refusal.reason,
  }));
  return once`insert into feed_refusals (tenant_id, id, feed_id, courier_id, refusal_key, reference, tracking_number, reason)
    select ${tenantId}::uuid, refused.id, ${id}::uuid, ${courierId}::uuid, refusal_key, reference, tracking_number, reason
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as refused
      (id uuid, refusal_key text, reference text, tracking_number text, reason text)
    order by refusal_key
    on conflict (tenant_id, feed_id, refusal_key) do update
      set reason = excluded.reason, reference = excluded.reference, refused_at = now()`;
};

/** Deletes the refusals of parcels that are announced now. */
export const deleteRefusals = (
  ctx: SystemScope,
  { id }: Pick<OrderFeed, 'id'>,
  keys: readonly string[],
): Sql =>
  once`delete from feed_refusals r where ${tenantRows(ctx, 'r')} and r.feed_id = ${id}::uuid and r.refusal_key = any(${keys}::text[])`;

const SHOWN = columns('FeedRefusal', 'r', [
  'id',
  'feedId',
  'courierId',
  'reference',
  'trackingNumber',
  'refusedAt',
]);

export type RefusalRow = Pick<
  FeedRefusal,
  'id' | 'feedId' | 'courierId' | 'reference' | 'trackingNumber' | 'refusedAt'
> & { feedName: string; reason: RefusalReason };

export type RefusalQuery = { courier_id?: string; page: number; limit: number };

const matching = (ctx: UserScope, { courier_id: courierId }: RefusalQuery): Sql =>
  allOf(
    ownRows(ctx, 'r'),
    ctx.caller.courierId === null && courierId && sql`r.courier_id = ${courierId}::uuid`,
  );

export const pageOfRefusals = (ctx: UserScope, query: RefusalQuery): Sql<RefusalRow> =>
  sql`select ${SHOWN}, r.reason, f.name as "feedName" from feed_refusals r
    join feeds f on f.tenant_id = r.tenant_id and f.id = r.feed_id
    where ${matching(ctx, query)} order by r.refused_at desc, r.id desc ${limitTo(query)}`;

export const countRefusals = (ctx: UserScope, query: RefusalQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from feed_refusals r where ${matching(ctx, query)}`;
