import { createHash } from 'node:crypto';
import { pauseWhenDue } from '../../platform/concurrency/pause-when-due.js';
import type { SystemContext } from '../../platform/context/request-context.js';
import { quotaOf, takeQuota } from '../../platform/limits/stored/quotas.js';
import { prepareAnnouncements, storeAnnouncements, type Announcements } from '../prealerts/public.js';
import { readScan, warnOfUnlikelyNumber, type ScannedNumber } from '../tracking-numbers/public.js';
import { insertEvent, noteReceived, type OpenFeed } from './queries.js';
import { codesOf, ownerOf, type Owner } from './customer-codes.js';
import * as queries from './order-queries.js';
import type { NewRefusal, RefusalReason } from './order-queries.js';
import { MAX_NUMBERS, type ShopOrder } from './senders/shop-order.js';

export type OrderOutcome = 'announced' | 'refused' | 'repeated';

/** A parcel of an order. */
type Parcel = {
  /** What its repetitions have in common: the order, and the number in any spelling. */
  key: string;
  /** The number as it was sent; null if it is too long to be one. */
  sent: string | null;
  number: ScannedNumber | undefined;
};

/** What becomes of a parcel. */
type Result = { parcel: Parcel; outcome: 'created' | 'known' | RefusalReason };

const EVENTS = quotaOf('feed_events');

/**
 * Announces the parcels of an order that it has not announced before, and stores why others cannot be. Nothing else changes.
 *
 * @param eventKey what a repetition of the event has in common with it
 * @throws ApiError quota_exceeded
 */
export async function receiveOrder(
  ctx: SystemContext,
  feed: OpenFeed,
  order: ShopOrder,
  eventKey: string,
): Promise<OrderOutcome> {
  const parcels = await parcelsOf(order);
  const keys = parcels.map(({ key }) => key);
  const [announced, customers] = await ctx.read([
    queries.parcelsOfEvents(ctx, feed, keys),
    queries.customersOfOrder(ctx, feed, codesOf(order)),
  ]);
  const known = new Set(announced.map(({ key }) => key));
  const fresh = parcels.filter(({ key }) => !known.has(key));
  const owner: Owner =
    order.numbers.length > MAX_NUMBERS
      ? { reason: 'too_many_numbers' }
      : ownerOf(order, customers, feed.customerId);
  const sent = 'reason' in owner ? [] : fresh.filter(isOneNumber).filter(isLikelyFor(owner));
  const announcements = await prepareAnnouncements(
    ctx,
    feed.courierId,
    sent.map((parcel) => announcementOf(feed, order, owner, parcel)),
  );
  return ctx.write(async (tx) => {
    tx.later(noteReceived(tx, feed.id));
    ctx.noteWrites({ share: 0 });
    if (fresh.length === 0) return 'repeated';
    const [isNew] = await tx.query(insertEvent(tx, feed, eventKey));
    if (!isNew) return 'repeated';
    ctx.noteWrites({ carried: sizeOf(order, fresh) });
    const outcomes = await storeAnnouncements(tx, announcements);
    const results = fresh.map((parcel): Result => {
      const position = sent.findIndex((each) => each === parcel);
      if ('reason' in owner) return { parcel, outcome: owner.reason };
      return { parcel, outcome: outcomes[position] ?? 'invalid_tracking_number' };
    });
    const refusals = results.flatMap((result) => refusalOf(order, result));
    const done = results.filter(({ outcome }) => isDone(outcome)).map(({ parcel }) => parcel.key);
    tx.later(queries.insertParcels(tx, feed, done));
    tx.later(queries.deleteRefusals(tx, feed, done));
    if (refusals.length > 0) {
      tx.later(queries.storeRefusals(tx, feed, refusals));
      tx.later(queries.deleteEvent(tx, feed, eventKey));
    }
    await takeQuota(tx, EVENTS, feed.courierId, fresh.length);
    if (results.some(({ outcome }) => outcome === 'created')) return 'announced';
    return refusals.length > 0 ? 'refused' : 'repeated';
  });
}

/** Each parcel once, in whatever spellings its number was sent. Those of an order that has too many are one. */
async function parcelsOf({ id, numbers }: ShopOrder): Promise<Parcel[]> {
  if (numbers.length > MAX_NUMBERS) return [{ key: keyOf(id, ''), sent: null, number: undefined }];
  const parcels = new Map<string, Parcel>();
  for (const sent of numbers) {
    await pauseWhenDue();
    const [number, another] = sent === null ? [] : readScan(sent).numbers;
    const one = another ? undefined : number;
    const key = keyOf(id, one?.key ?? sent ?? ' ');
    if (!parcels.has(key)) parcels.set(key, { key, sent, number: one });
  }
  return [...parcels.values()];
}

const keyOf = (orderId: string, number: string): string =>
  createHash('sha256')
    .update(JSON.stringify([orderId, number]))
    .digest('hex');

type OneNumber = Parcel & { sent: string; number: ScannedNumber };
const isOneNumber = (parcel: Parcel): parcel is OneNumber => parcel.number !== undefined;

/** A person who announces such a text is warned. A shop reads no warning, so it is refused where the courier sees it. */
const isLikelyFor =
  ({ userCode }: { userCode: string }) =>
  ({ sent, number }: OneNumber): boolean =>
    warnOfUnlikelyNumber({ sentNumber: sent, trackingNumber: number.text, keys: number.keys, userCode }) ===
    undefined;

const isDone = (outcome: Result['outcome']): outcome is 'created' | 'known' =>
  outcome === 'created' || outcome === 'known';

const announcementOf = (
  { name }: OpenFeed,
  { reference, description }: ShopOrder,
  owner: Owner,
  { sent, number }: OneNumber,
): Announcements[number] => ({
  userCode: 'userCode' in owner ? owner.userCode : '',
  sentNumber: sent,
  number,
  vendor: name,
  description,
  reference,
});

const refusalOf = ({ reference }: ShopOrder, { parcel, outcome }: Result): NewRefusal[] =>
  isDone(outcome)
    ? []
    : [{ refusalKey: parcel.key, reference, trackingNumber: parcel.sent, reason: outcome }];

/** What the service stores of an order. The body is not stored. */
function sizeOf({ description, reference }: ShopOrder, parcels: Parcel[]): { bytes: number; items: number } {
  const bytes = Buffer.byteLength(`${description ?? ''}${reference ?? ''}`) * parcels.length;
  return { bytes, items: parcels.length };
}
