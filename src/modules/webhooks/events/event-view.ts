import type { components } from '../../../../generated/contract.js';
import type { Event } from '../../../platform/db/models/types.js';
import { formatDateTime, withZone } from '../../../platform/values/time.js';

type Schemas = components['schemas'];

type FeedEvent = Schemas['CourierEvent'];
type TestEvent = Schemas['WebhookTestEvent'];

/** An event in the feed and in webhooks. */
export type ShownEvent = FeedEvent | TestEvent;

type StoredEvent<Shown extends ShownEvent> = Shown extends ShownEvent
  ? Pick<Event, 'id' | 'occurredAt'> & Pick<Shown, 'type' | 'data'>
  : never;

/** A stored event of the feed. Its sequence counts from 1, as text. */
export type FeedRow = StoredEvent<FeedEvent> & { sequence: string };

/** A stored event. A test has no sequence. */
export type EventRow = FeedRow | (StoredEvent<TestEvent> & { sequence: null });

/** Returns the payload of an event: the body of its webhook. */
export const viewEvent = (row: EventRow): ShownEvent =>
  row.type === 'webhook.test'
    ? { type: row.type, ...commonFields(row, null), data: row.data }
    : viewFeedEvent(row);

/** Returns the record of an event in the feed, which is also the body of its webhook. */
export function viewFeedEvent(row: FeedRow): FeedEvent {
  const common = commonFields(row, Number(row.sequence));
  switch (row.type) {
    case 'package.created':
      return { type: row.type, ...common, data: row.data };
    case 'package.updated':
      return { type: row.type, ...common, data: row.data };
    case 'package.status_changed':
      return { type: row.type, ...common, data: row.data };
    case 'prealert.received':
    case 'prealert.flagged':
    case 'prealert.claimed':
    case 'prealert.reopened':
    case 'prealert.missing':
      return { type: row.type, ...common, data: row.data };
    case 'bill.published':
    case 'bill.paid':
    case 'bill.reopened':
    case 'bill.overdue':
      return { type: row.type, ...common, data: row.data };
    case 'manifest.departed':
    case 'manifest.arrived':
      return { type: row.type, ...common, data: row.data };
    case 'consignee.notice':
      return { type: row.type, ...common, data: row.data };
  }
}

function commonFields<Sequence>({ id, occurredAt }: EventRow, sequence: Sequence) {
  const timestamp = formatDateTime(occurredAt);
  return { event_id: id, sequence, timestamp, timestamp_utc: withZone(timestamp) };
}
