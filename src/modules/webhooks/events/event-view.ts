import type { components } from '../../../../generated/contract.js';
import type { Event } from '../../../platform/db/models/types.js';
import { formatDateTime } from '../../../platform/values/time.js';

type Schemas = components['schemas'];

/** An event in the feed and in webhooks. */
export type ShownEvent = Schemas['Event'] | Schemas['TestEvent'];

/** A stored event. */
export type EventRow<Type extends ShownEvent['type'] = ShownEvent['type']> = Pick<
  Event,
  'id' | 'occurredAt'
> & {
  /** Counts from 1, as text; null for a test. */
  sequence: string | null;
  type: Type;
  data: unknown;
};

/** Returns the payload of an event: the body of its webhook, and its record in the feed. */
export function viewEvent<Type extends ShownEvent['type']>(
  row: EventRow<Type>,
): Extract<ShownEvent, { type: Type }> {
  const event = {
    type: row.type,
    event_id: row.id,
    sequence: row.sequence === null ? null : Number(row.sequence),
    timestamp: formatDateTime(row.occurredAt),
    data: row.data,
  };
  // The code that records an event stores data of its type's schema, and constraints of the table ensure the
  // sequence.
  return event as Extract<ShownEvent, { type: Type }>;
}
