import type { FeedKind } from './senders/signatures.js';
import { columns } from '../../platform/db/columns.js';
import { allOf, ownRows, tenantRows } from '../../platform/db/filters.js';
import type { Feed } from '../../platform/db/models/types.js';
import { limitTo } from '../../platform/db/pages.js';
import type { SystemScope, UserScope } from '../../platform/db/scope.js';
import { once, sql, type Sql } from '../../platform/db/statements.js';

const FIELDS = [
  'id',
  'courierId',
  'name',
  'kind',
  'isActive',
  'hint',
  'createdAt',
  'rotatedAt',
  'lastReceivedAt',
] as const;

/** A feed as lists show it. A previous secret is shown while it works. */
export type FeedRow = Omit<
  Pick<Feed, (typeof FIELDS)[number] | 'previousHint' | 'previousEndsAt'>,
  'kind'
> & {
  kind: FeedKind;
  /** That of the customer of a shop's orders that name none. */
  userCode: string | null;
};

const HAS_PREVIOUS = sql`(f.previous_ends_at > now())`;
const SHOWN = sql`${columns('Feed', 'f', FIELDS)},
  (select cu.user_code from customers cu where cu.tenant_id = f.tenant_id and cu.id = f.customer_id) as "userCode",
  case when ${HAS_PREVIOUS} then f.previous_hint end as "previousHint",
  case when ${HAS_PREVIOUS} then f.previous_ends_at end as "previousEndsAt"`;

export type FeedQuery = { courier_id?: string; page: number; limit: number };

const matching = (ctx: UserScope, { courier_id: courierId }: FeedQuery): Sql =>
  allOf(
    ownRows(ctx, 'f'),
    ctx.caller.courierId === null && courierId && sql`f.courier_id = ${courierId}::uuid`,
  );

export const pageOfFeeds = (ctx: UserScope, query: FeedQuery): Sql<FeedRow> =>
  sql`select ${SHOWN} from feeds f where ${matching(ctx, query)} order by f.created_at desc, f.id desc ${limitTo(query)}`;

export const countFeeds = (ctx: UserScope, query: FeedQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from feeds f where ${matching(ctx, query)}`;

export const feedById = (ctx: UserScope, id: string): Sql<FeedRow> =>
  once`select ${SHOWN} from feeds f where ${ownRows(ctx, 'f')} and f.id = ${id}::uuid`;

export type LockedFeed = FeedRow & Pick<Feed, 'secretCipher' | 'customerId'>;

/** A feed that is locked until the end of the transaction. */
export const lockedFeed = (ctx: UserScope, id: string): Sql<LockedFeed> =>
  once`select ${SHOWN}, f.secret_cipher as "secretCipher", f.customer_id as "customerId" from feeds f
    where ${ownRows(ctx, 'f')} and f.id = ${id}::uuid for no key update`;

export const countFeedsOf = (ctx: UserScope, courierId: string): Sql<{ total: number }> =>
  sql`select count(*)::int as total from feeds f where ${ownRows(ctx, 'f')} and f.courier_id = ${courierId}::uuid`;

/** The active customer of a courier with a user code. */
export const activeCustomer = (ctx: UserScope, courierId: string, userCode: string): Sql<{ id: string }> =>
  sql`select cu.id from customers cu where ${ownRows(ctx, 'cu')} and cu.courier_id = ${courierId}::uuid
    and cu.user_code = ${userCode} and cu.is_active`;

export type NewFeed = Pick<Feed, 'id' | 'courierId' | 'customerId' | 'name' | 'secretCipher' | 'hint'> & {
  kind: FeedKind;
};

export const insertFeed = ({ tenantId, caller }: UserScope, feed: NewFeed): Sql =>
  once`insert into feeds (tenant_id, id, courier_id, customer_id, kind, name, secret_cipher, hint, created_by)
    values (${tenantId}::uuid, ${feed.id}::uuid, ${feed.courierId}::uuid, ${feed.customerId}::uuid, ${feed.kind}, ${feed.name}, ${feed.secretCipher},
      ${feed.hint}, ${caller.userId}::uuid)`;

export const updateFeed = (
  ctx: UserScope,
  id: string,
  change: Pick<Feed, 'name' | 'isActive' | 'customerId'>,
): Sql =>
  once`update feeds f set name = ${change.name}, is_active = ${change.isActive}::boolean,
      customer_id = ${change.customerId}::uuid
    where ${ownRows(ctx, 'f')} and f.id = ${id}::uuid`;

export type FeedRotation = Pick<Feed, 'secretCipher' | 'hint'> & {
  previousCipher: string;
  overlapHours: number;
};

/** The present secret becomes the previous one. */
export const rotateFeed = (ctx: UserScope, id: string, rotation: FeedRotation): Sql =>
  once`update feeds f set previous_cipher = ${rotation.previousCipher}, previous_hint = f.hint,
      previous_ends_at = now() + make_interval(hours => ${rotation.overlapHours}::int), rotated_at = now(),
      secret_cipher = ${rotation.secretCipher}, hint = ${rotation.hint}
    where ${ownRows(ctx, 'f')} and f.id = ${id}::uuid`;

export const deleteFeed = (ctx: UserScope, id: string): Sql =>
  once`delete from feeds f where ${ownRows(ctx, 'f')} and f.id = ${id}::uuid`;

/** What is needed to accept an event. The previous cipher is null unless it works. */
export type OpenFeed = Pick<
  Feed,
  'id' | 'courierId' | 'customerId' | 'name' | 'secretCipher' | 'previousCipher'
> & {
  kind: FeedKind;
};

/** Selects a feed that accepts events: one that is switched on, of a courier that is active. */
export const openFeed = (ctx: SystemScope, id: string): Sql<OpenFeed> =>
  once`select f.id, f.courier_id as "courierId", f.customer_id as "customerId", f.kind, f.name, f.secret_cipher as "secretCipher",
      case when ${HAS_PREVIOUS} then f.previous_cipher end as "previousCipher"
    from feeds f join couriers c on c.tenant_id = f.tenant_id and c.id = f.courier_id and c.is_active
    where ${tenantRows(ctx, 'f')} and f.id = ${id}::uuid and f.is_active`;

/** Stores that an event has arrived. Returns no row if it has arrived before, or if the feed was deleted meanwhile. */
export const insertEvent = (
  ctx: SystemScope,
  { id, courierId }: Pick<OpenFeed, 'id' | 'courierId'>,
  eventKey: string,
): Sql<{ key: string }> =>
  once`insert into feed_events (tenant_id, feed_id, event_key, courier_id)
    select f.tenant_id, f.id, ${eventKey}::text, ${courierId}::uuid from feeds f
    where ${tenantRows(ctx, 'f')} and f.id = ${id}::uuid for key share
    on conflict do nothing returning event_key as key`;

/** Writes at most once per minute. */
export const noteReceived = (ctx: SystemScope, id: string): Sql =>
  once`update feeds f set last_received_at = now()
    where ${tenantRows(ctx, 'f')} and f.id = ${id}::uuid
      and coalesce(f.last_received_at < now() - interval '1 minute', true)`;
