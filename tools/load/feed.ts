import { maskTrackingNumber } from '../../src/modules/tracking-numbers/public.js';
import type { components } from '../../generated/contract.js';
import { formatDateTime } from '../../src/platform/values/time.js';
import type { Row } from '../../fixtures/demo/values/rows.js';
import type { Parcel, Traffic } from './parcels.js';
import type { Step } from './steps.js';
import type { PlannedCourier, TenantPlan } from './tenant-plan.js';
import { DAY_MS, HOUR_MS, iso } from './values/time.js';

type Schemas = components['schemas'];

/** Retention deletes older rows. */
const EVENT_DAYS = 90;
const DELIVERY_DAYS = 30;
/** The system of one courier failed in the last days. */
const BROKEN_DAYS = 2;
const BROKEN_COURIER = 3;
/** In percent of the deliveries. */
const SECOND_ATTEMPT = 2.5;
/** Seconds between the attempts. */
const RETRIES = [5, 300, 1_800, 7_200];

export type Feed = Record<'events' | 'counters' | 'deliveries' | 'attempts' | 'endpoints', Row[]>;

type Happened = { parcel: Parcel; courier: PlannedCourier; step: Step };

/** The events of all couriers in the order in which they happened, and their deliveries. */
export function feedOf(plan: TenantPlan, { parcels }: Traffic): Feed {
  const feed: Feed = { events: [], counters: [], deliveries: [], attempts: [], endpoints: [] };
  const sequences = new Map<string, number>();
  for (const happened of inOrder(plan, parcels)) {
    const { courier, step, parcel } = happened;
    const sequence = (sequences.get(courier.id) ?? 0) + 1;
    sequences.set(courier.id, sequence);
    const id = plan.random.id(step.atMs);
    feed.events.push({
      ...{ tenant_id: plan.id, id, courier_id: courier.id, sequence, package_id: parcel.id },
      type: step.previous === null ? 'package.created' : 'package.status_changed',
      data: step.previous === null ? packageOf(parcel) : changeOf(parcel, step),
      occurred_at: iso(step.atMs),
    });
    if (courier.webhooks && step.atMs >= plan.endMs - DELIVERY_DAYS * DAY_MS)
      addDelivery(plan, feed, happened, id);
  }
  feed.counters = [...sequences].map(([courierId, sequence]) => ({
    ...{ tenant_id: plan.id, courier_id: courierId, last_sequence: sequence },
  }));
  feed.endpoints = endpointRows(plan);
  return feed;
}

function inOrder({ endMs }: TenantPlan, parcels: Parcel[]): Happened[] {
  const oldestMs = endMs - EVENT_DAYS * DAY_MS;
  const all = parcels.flatMap((parcel) => {
    const { courier, steps } = parcel;
    return courier
      ? steps.filter(({ atMs }) => atMs >= oldestMs).map((step) => ({ parcel, courier, step }))
      : [];
  });
  return all.sort((a, b) => a.step.atMs - b.step.atMs);
}

const shownNumber = ({ customer, trackingNumber }: Parcel) =>
  customer ? trackingNumber : maskTrackingNumber(trackingNumber);

function packageOf(parcel: Parcel): Schemas['EventPackage'] {
  const { contents, customer } = parcel;
  const [length = null, width = null, height = null] = contents.inches ?? [];
  return {
    package_id: parcel.id,
    tracking_number: shownNumber(parcel),
    house_number: parcel.houseNumber,
    user_code: customer?.userCode ?? null,
    first_name: customer?.firstName ?? null,
    last_name: customer?.lastName ?? null,
    weight: Number(contents.weightLb),
    ...{ length, width, height },
    package_type: contents.packageType,
    shipper: contents.shipper,
    description: contents.description,
    status: 'received',
    manifest_number: null,
    entry_date_time: formatDateTime(new Date(parcel.receivedMs)),
  };
}

function changeOf(
  parcel: Parcel,
  { previous, status, source, atMs, remarks }: Step,
): Schemas['EventStatusChange'] {
  return {
    package_id: parcel.id,
    tracking_number: shownNumber(parcel),
    house_number: parcel.houseNumber,
    user_code: parcel.customer?.userCode ?? null,
    previous_status: previous ?? 'received',
    status,
    manifest_number: parcel.flight?.number ?? null,
    ...(source === 'recorded'
      ? { occurred_at: formatDateTime(new Date(atMs)), location: parcel.customer?.branch ?? null, remarks }
      : {}),
  };
}

const isBroken = (plan: TenantPlan, courier: PlannedCourier, atMs: number) =>
  courier === plan.couriers[BROKEN_COURIER] && atMs >= plan.endMs - BROKEN_DAYS * DAY_MS;

function addDelivery(plan: TenantPlan, feed: Feed, { courier, step }: Happened, eventId: string): void {
  const { random, endMs } = plan;
  const ids = { tenant_id: plan.id, courier_id: courier.id };
  const firstMs = step.atMs + random.whole(300, 2_500);
  const fails = isBroken(plan, courier, step.atMs);
  const failures = fails ? RETRIES.length + 1 : random.isOne(SECOND_ATTEMPT) ? 1 : 0;
  const startsMs = [0, ...RETRIES].reduce<number[]>(
    (times, seconds) => [...times, (times.at(-1) ?? firstMs) + seconds * 1_000],
    [],
  );
  const starts = startsMs
    .slice(0, fails ? failures : failures + 1)
    .filter((atMs) => atMs < endMs - HOUR_MS / 60);
  const id = random.id(firstMs);
  if (starts.length === 0) return;
  const isDelivered = !fails && starts.length > failures;
  starts.forEach((atMs, index) => {
    const isGood = isDelivered && index === starts.length - 1;
    feed.attempts.push({
      ...{ ...ids, delivery_id: id, number: index + 1, started_at: iso(atMs) },
      duration_ms: isGood ? random.whole(40, 420) : 10_000,
      outcome: isGood ? 'delivered' : fails ? 'rejected' : 'timeout',
      http_status: isGood ? 200 : fails ? 503 : null,
      response_start: isGood ? '{"ok":true}' : fails ? 'Service Unavailable' : null,
      error: isGood || fails ? null : 'no response within 10 s',
    });
  });
  feed.deliveries.push({
    ...{ ...ids, id, event_id: eventId, endpoint: step.previous === null ? 'add_package' : 'update_package' },
    ...{ origin: 'event', status: isDelivered ? 'delivered' : 'failed', attempt_count: starts.length },
    next_attempt_at: null,
    last_http_status: isDelivered ? 200 : fails ? 503 : null,
    created_at: iso(step.atMs),
    settled_at: iso((starts.at(-1) ?? firstMs) + 1_000),
  });
}

function endpointRows(plan: TenantPlan): Row[] {
  const { couriers, endMs } = plan;
  return couriers.flatMap((courier) =>
    courier.webhooks
      ? (['add_package', 'update_package'] as const).map((endpoint) => {
          const fails = isBroken(plan, courier, endMs);
          return {
            ...{ tenant_id: plan.id, courier_id: courier.id, endpoint },
            failing_since: fails ? iso(endMs - BROKEN_DAYS * DAY_MS) : null,
            failures: fails ? 40 : 0,
            last_success_at: iso(fails ? endMs - BROKEN_DAYS * DAY_MS - HOUR_MS : endMs - 5 * HOUR_MS),
            last_failure_at: fails ? iso(endMs - 4 * HOUR_MS) : null,
          };
        })
      : [],
  );
}
