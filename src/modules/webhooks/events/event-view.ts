import type { components } from '../../../../generated/contract.js';
import { formatDateTime } from '../../../platform/values/time.js';

type Schemas = components['schemas'];

/** An event in the feed and in webhooks. */
export type ShownEvent = Schemas['CourierEvent'] | Schemas['WebhookTestEvent'];

/** A stored event. */
export type EventRow<Type extends ShownEvent['type'] = ShownEvent['type']> = {
  id: string;
  /** Counts from 1; null for a test. Drivers that do not parse bigint return text. */
  sequence: bigint | string | null;
  type: Type;
  data: unknown;
  occurred_at: Date;
};

/** Returns the payload of an event: the body of its webhook, and its record in the feed. */
export function viewEvent<Type extends ShownEvent['type']>(
  row: EventRow<Type>,
): Extract<ShownEvent, { type: Type }> {
  const event = {
    type: row.type,
    event_id: row.id,
    sequence: row.sequence === null ? null : Number(row.sequence),
    timestamp: formatDateTime(row.occurred_at),
    data: row.data,
  };
  // The code that records an event stores data of its type's schema, and constraints of the table ensure the
  // sequence.
  return event as Extract<ShownEvent, { type: Type }>;
}
