import type { components } from '../../../../generated/contract.js';
import { formatDateTime } from '../../../platform/values/time.js';

type Schemas = components['schemas'];

/** An event as the feed and the webhooks show it. */
export type ShownEvent = Schemas['Event'] | Schemas['TestEvent'];

/** An event as it is stored. */
export type EventRow<Type extends ShownEvent['type'] = ShownEvent['type']> = {
  id: string;
  /** Counts from 1; null for a test. Text where the driver reads a bigint as such. */
  sequence: bigint | string | null;
  type: Type;
  data: unknown;
  occurred_at: Date;
};

/** The payload of an event: the body of its webhook, and its record in the feed. */
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
  // as: who records an event gives data of its type's schema, and constraints of the table let no other sequence in
  return event as Extract<ShownEvent, { type: Type }>;
}
