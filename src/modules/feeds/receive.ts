import { createHash } from 'node:crypto';
import type { Secrets } from '../../platform/access/secrets.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { ApiError } from '../../platform/errors/errors.js';
import type { RateLimit } from '../../platform/limits/headers/rate-limits.js';
import { makeNetworkBudget, type NetworkBudget } from '../../platform/limits/network-budget.js';
import type { SharedLimits } from '../../platform/limits/shared/shared-limits.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { hearOfParcel, parcelOf, type CarrierEvent } from '../carrier-tracking/public.js';
import { insertEvent, noteReceived, openFeed, type OpenFeed } from './queries.js';
import { idOfEasyPost, readEasyPost } from './senders/easypost.js';
import type { Fields } from './senders/fields.js';
import { receiveOrder, type OrderOutcome } from './receive-order.js';
import type { ShopOrder } from './senders/shop-order.js';
import { readShippo } from './senders/shippo.js';
import { readShopify } from './senders/shopify.js';
import { readWooCommerce } from './senders/woocommerce.js';
import { isSigned, type Delivery, type FeedKind } from './senders/signatures.js';

export type Outcome = 'stored' | 'late' | 'ignored' | OrderOutcome;

/** What arrived: where, from whom, and the parsed body. */
export type Arrival = Delivery & { feedId: string; address: string; body: Fields };

/** Of wrong signatures, per server. A right one is accepted all the same: many couriers have the same sender. */
const FAILURES: RateLimit = { policy: 'unsigned-events-per-address', quota: 300, windowSeconds: 15 * 60 };

const EVENTS = quotaOf('feed_events');

export type Receiver = {
  receive(ctx: SystemContext, arrival: Arrival): Promise<Outcome>;
  receivePing(ctx: SystemContext, arrival: Pick<Arrival, 'feedId' | 'address'>): Promise<Outcome>;
};

/** Accepts signed events of feeds. */
export function openReceiver({ limits, secrets }: { limits: SharedLimits; secrets: Secrets }): Receiver {
  const failures = makeNetworkBudget(limits, FAILURES);
  return {
    /**
     * Stores an event of a feed, unless it has arrived before or something later is known.
     *
     * @throws ApiError feed_signature_invalid, too_many_attempts, quota_exceeded
     */
    async receive(ctx, arrival) {
      const [[feed]] = await ctx.read([openFeed(ctx, arrival.feedId)]);
      if (!feed || !isSigned(feed.kind, arrival, secretsOf(secrets, ctx.tenantId, feed)))
        throw await countFailure(ctx, failures, arrival);
      await ctx.writeFor(feed.courierId);
      return store(ctx, feed, arrival);
    },
    /**
     * Answers what WooCommerce sends when a webhook is created. It has no signature, so it only finds out whether the URL is right.
     *
     * @throws ApiError feed_signature_invalid, too_many_attempts
     */
    async receivePing(ctx, { feedId, address }) {
      const [[feed]] = await ctx.read([openFeed(ctx, feedId)]);
      if (feed?.kind !== 'woocommerce') throw await countFailure(ctx, failures, { address });
      return 'ignored';
    },
  };
}

/** The present secret, and the one before while it works. */
function secretsOf(secrets: Secrets, tenantId: string, { id: rowId, ...feed }: OpenFeed): string[] {
  const place = { tenantId, rowId };
  const present = secrets.decrypt(feed.secretCipher, { ...place, field: 'feed_secret' });
  if (feed.previousCipher === null) return [present];
  return [present, secrets.decrypt(feed.previousCipher, { ...place, field: 'previous_feed_secret' })];
}

async function countFailure(
  ctx: SystemContext,
  failures: NetworkBudget,
  { address }: Pick<Arrival, 'address'>,
): Promise<ApiError> {
  const usage = await failures.consume({ tenantId: ctx.tenantId, address });
  ctx.noteRateLimit({ ...FAILURES, ...usage });
  return new ApiError('feed_signature_invalid');
}

type Reader =
  | { read(body: Fields): CarrierEvent | undefined; isShop: false }
  | { read(body: Fields): ShopOrder | undefined; isShop: true };

const READERS: Record<FeedKind, Reader> = {
  easypost: { read: readEasyPost, isShop: false },
  shippo: { read: readShippo, isShop: false },
  shopify: { read: readShopify, isShop: true },
  woocommerce: { read: readWooCommerce, isShop: true },
};

async function store(ctx: SystemContext, feed: OpenFeed, { bytes, body }: Arrival): Promise<Outcome> {
  const reader = READERS[feed.kind];
  const key = keyOf(feed.kind, bytes, body);
  if (reader.isShop) {
    const order = reader.read(body);
    return order && order.numbers.length > 0 ? receiveOrder(ctx, feed, order, key) : ignore(ctx, feed);
  }
  const event = reader.read(body);
  const parcel = event && parcelOf(event);
  if (!event || !parcel) return ignore(ctx, feed);
  const { courierId } = feed;
  return ctx.write(async (tx) => {
    tx.later(noteReceived(tx, feed.id));
    const [isNew] = await tx.query(insertEvent(tx, feed, key));
    // The body is not stored. Two rows are, and a third with another key of the parcel.
    ctx.noteWrites(isNew ? { carried: { bytes: 0, items: 1 } } : { share: 0 });
    if (!isNew) return 'repeated';
    const isStored = await hearOfParcel(tx, courierId, parcel, event);
    await takeQuota(tx, EVENTS, courierId, 1);
    return isStored ? 'stored' : 'late';
  });
}

/** Most events of a shop are about orders that are not sent yet. That they arrive shows that the feed is connected. */
async function ignore(ctx: SystemContext, feed: OpenFeed): Promise<'ignored'> {
  ctx.noteWrites({ share: 0 });
  await ctx.write([noteReceived(ctx, feed.id)]);
  return 'ignored';
}

/** What a repetition has in common with the event. Headers have no signature, so an id in a header proves nothing. */
const keyOf = (kind: FeedKind, bytes: Buffer, body: Fields): string =>
  (kind === 'easypost' ? idOfEasyPost(body) : undefined) ?? createHash('sha256').update(bytes).digest('hex');
