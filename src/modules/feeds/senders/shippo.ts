// Shippo's events: https://docs.goshippo.com/docs/tracking/tracking and https://docs.goshippo.com/docs/tracking/webhooks
import type { CarrierEvent, CarrierStatus } from '../../carrier-tracking/public.js';
import { fieldsOf, lineOf, numberOf, timeOf, type Fields } from './fields.js';

const STATUSES: Record<string, CarrierStatus> = {
  UNKNOWN: 'silent',
  PRE_TRANSIT: 'announced',
  TRANSIT: 'moving',
  DELIVERED: 'delivered_at_warehouse_door',
  RETURNED: 'problem',
  FAILURE: 'problem',
};

/** Returns what the event says, or undefined if it is about something else. */
export function readShippo({ event, data }: Fields): CarrierEvent | undefined {
  const track = fieldsOf(data);
  const number = numberOf(track['tracking_number']);
  // Null until the carrier knows the number.
  const state = fieldsOf(track['tracking_status']);
  const sent = lineOf(state['status'], 100) ?? 'UNKNOWN';
  const status = Object.hasOwn(STATUSES, sent) ? STATUSES[sent] : undefined;
  if (event !== 'track_updated' || number === null || !status) return undefined;
  const detail = fieldsOf(state['substatus']);
  const code = lineOf(detail['code'], 100);
  return {
    number,
    status,
    carrier: lineOf(track['carrier'], 100),
    code: code ?? sent.toLowerCase(),
    remark: lineOf(state['status_details'], 500) ?? lineOf(detail['text'], 500),
    isActionNeeded: code === null ? status === 'problem' : detail['action_required'] === true,
    occurredAt: timeOf(state['status_date']),
  };
}
