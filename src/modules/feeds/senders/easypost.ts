// EasyPost's events: https://docs.easypost.com/docs/trackers and https://docs.easypost.com/guides/webhooks-guide
import type { CarrierEvent, CarrierStatus } from '../../carrier-tracking/public.js';
import { fieldsOf, lineOf, numberOf, listOf, timeOf, type Fields } from './fields.js';

/** Of a tracker. `available_for_pickup` is a problem: nobody brings the parcel to the warehouse. */
const STATUSES: Record<string, { status: CarrierStatus; isActionNeeded?: true }> = {
  unknown: { status: 'silent' },
  pre_transit: { status: 'announced' },
  in_transit: { status: 'moving' },
  out_for_delivery: { status: 'moving' },
  delivered: { status: 'delivered_at_warehouse_door' },
  available_for_pickup: { status: 'problem', isActionNeeded: true },
  return_to_sender: { status: 'problem', isActionNeeded: true },
  failure: { status: 'problem', isActionNeeded: true },
  cancelled: { status: 'problem', isActionNeeded: true },
  error: { status: 'problem' },
};

const EVENTS = new Set<unknown>(['tracker.created', 'tracker.updated']);
const ID = /^evt_[0-9A-Za-z]{1,60}$/;

/** Returns the id of an event. Its bytes differ from one attempt to the next, because they list the URLs that are left. */
export function idOfEasyPost({ id }: Fields): string | undefined {
  return typeof id === 'string' && ID.test(id) ? id : undefined;
}

/** Returns what the event says, or undefined if it is about something else. */
export function readEasyPost({ description, result }: Fields): CarrierEvent | undefined {
  const tracker = fieldsOf(result);
  const number = numberOf(tracker['tracking_code']);
  const sent = lineOf(tracker['status'], 100);
  const known = sent === null || !Object.hasOwn(STATUSES, sent) ? undefined : STATUSES[sent];
  if (!EVENTS.has(description) || number === null || !known) return undefined;
  const detail = lineOf(tracker['status_detail'], 100);
  const last = latestOf(listOf(tracker['tracking_details']));
  return {
    number,
    status: known.status,
    carrier: lineOf(tracker['carrier'], 100),
    code: detail === null || detail === 'unknown' ? sent : detail,
    remark: last ? (lineOf(last.fields['message'], 500) ?? lineOf(last.fields['description'], 500)) : null,
    isActionNeeded: known.isActionNeeded ?? false,
    occurredAt: last?.time ?? timeOf(tracker['updated_at']),
  };
}

type Detail = { fields: Fields; time: Date };

function latestOf(details: Fields[]): Detail | undefined {
  let latest: Detail | undefined;
  for (const fields of details) {
    const time = timeOf(fields['datetime']);
    if (time && (!latest || time >= latest.time)) latest = { fields, time };
  }
  return latest;
}
