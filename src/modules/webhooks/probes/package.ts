import type { components } from '../../../../generated/contract.js';
import { formatDateTime, withZone } from '../../../platform/values/time.js';
import { viewEvent } from '../events/event-view.js';
import { testRow, viewFlatPackage } from '../flat/flat-package.js';

type Format = components['schemas']['WebhookFormat'];

/** Of the package of a check, in lb. Its value in kilograms, and what it would be as kilograms, are unlike any other number of it. */
export const PROBE_WEIGHT_LB = 13.7;

const QUARTER_MS = 900_000;
const BEFORE_QUARTER_MS = 433_000;

/**
 * The time of receipt of the package of a check: 7 minutes and 13 seconds before a quarter of an hour. A receiver that confuses time zones
 * repeats it a number of quarters away, and its own clock, or midnight, never is.
 */
export const probeReceivedAt = (sentAt: Date): Date =>
  new Date(Math.floor(sentAt.getTime() / QUARTER_MS) * QUARTER_MS - BEFORE_QUARTER_MS);

/** Characters that languages write differently in JSON, so that a signature of rewritten JSON shows. */
const DESCRIPTION = 'A test from Crossdock (é/ñ). It is not a package.';

export type ProbePackage = { courierId: string; eventId: string; sentAt: Date };

/** Returns the content of the request of a check, which has the form of a live delivery. `token` is for flat packages; empty for none. */
export function probeContent(format: Format, probe: ProbePackage, token: string): object {
  if (format === 'event') return viewEvent(eventOf(probe));
  const flat = viewFlatPackage(flatRowOf(probe), token);
  return format === 'flat_array' ? [flat] : flat;
}

const flatRowOf = ({ courierId, eventId, sentAt }: ProbePackage) => ({
  ...testRow(courierId, eventId, sentAt),
  weight: String(PROBE_WEIGHT_LB),
  description: DESCRIPTION,
  receivedAt: probeReceivedAt(sentAt).toISOString().slice(0, -1),
});

/** A test with the data of a package.created, in the order of their names in which PostgreSQL stores them. */
function eventOf({ eventId, sentAt }: ProbePackage) {
  const receivedAt = formatDateTime(probeReceivedAt(sentAt));
  const data = {
    width: null,
    height: null,
    length: null,
    status: 'received',
    weight: PROBE_WEIGHT_LB,
    message: 'A check from Crossdock. Answer it as you answer a package.created, and store nothing.',
    shipper: 'Crossdock',
    last_name: null,
    reference: null,
    user_code: null,
    first_name: null,
    package_id: eventId,
    description: DESCRIPTION,
    prealert_id: null,
    house_number: 'TEST',
    package_type: null,
    entry_date_time: receivedAt,
    manifest_number: null,
    tracking_number: 'TEST',
    entry_date_time_utc: withZone(receivedAt),
  } satisfies components['schemas']['EventPackage'] & { message: string };
  return { id: eventId, type: 'webhook.test', sequence: null, occurredAt: sentAt, data } as const;
}
