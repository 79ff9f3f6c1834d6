import type { components } from '../../../../generated/contract.js';
import { pause } from '../../../platform/concurrency/pause-when-due.js';
import { recordOf } from '../../../platform/contract/record.js';
import { newId, newIds } from '../../../platform/values/ids.js';
import { withZone } from '../../../platform/values/time.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import type { Tx } from '../../../platform/db/scope.js';
import { batchOf, selectEventPackages, type EventPackageRow, type NewEvent } from './event-queries.js';
import { outboxOf } from './outbox.js';

type Schemas = components['schemas'];
export type EventType = Schemas[
  | 'PackageCreatedEvent'
  | 'PackageUpdatedEvent'
  | 'PackageStatusChangedEvent']['type'];
type CourierEventType = Schemas['CourierEvent']['type'];
type PrealertEventType = Extract<CourierEventType, `prealert.${string}`>;
type BillEventType = Extract<CourierEventType, `bill.${string}`>;
type ManifestEventType = Extract<CourierEventType, `manifest.${string}`>;

/** A change of a package to report to its courier. */
export type PackageChange = {
  packageId: string;
  /** For `package.status_changed`: the previous status. */
  previousStatus?: Schemas['PackageStatus'];
  /** For `package.status_changed`: the details of an event recorded by staff. */
  recorded?: Pick<Schemas['EventStatusChange'], 'occurred_at' | 'location' | 'remarks'>;
  /** For `package.updated`: when the receipt was voided, as `YYYY-MM-DD HH:MM:SS` in UTC. */
  voidedAt?: string;
  /** For `package.updated`: the synchronisation (package_syncs) that the event delivers. */
  syncJobId?: string;
  /** The trace that the change belongs to, if it is not the context's. */
  traceparent?: string | null;
};

/**
 * Emits webhook events with the packages' current state from the transaction that changes them (transactional
 * outbox). They are stored when the work of the transaction is done, and delivered after the commit. Packages without a courier have no events.
 */
export async function emitPackageEvents(tx: Tx, type: EventType, changes: PackageChange[]): Promise<void> {
  const { events } = outboxOf(tx);
  for (let start = 0; start < changes.length; start += PACKAGES_PER_READ) {
    const part = changes.slice(start, start + PACKAGES_PER_READ);
    const ids = part.map(({ packageId }) => packageId);
    const rows = await tx.query(selectEventPackages(tx, ids));
    events.push(...batchOf(makeEvents(tx, type, part, rows)));
    // The statement that stores many events takes a turn of its own.
    if (changes.length > PACKAGES_PER_READ) await pause();
  }
}

/**
 * Emits events of packages that the caller has read itself, with selectEventPackages and after the change, to save a round trip.
 */
export function emitEventsOfPackages(
  tx: Tx,
  type: EventType,
  changes: PackageChange[],
  packages: EventPackageRow[],
): void {
  outboxOf(tx).events.push(...batchOf(makeEvents(tx, type, changes, packages)));
}

/** A pre-alert whose status has changed, and its courier. */
type PrealertChange = { id: string; courierId: string };

/**
 * Emits events of pre-alerts whose status the transaction changes. The statement that stores the events reads the pre-alerts, after all
 * that the transaction writes, and only those whose courier has chosen the type. So this adds no round trip.
 */
export function emitPrealertEvents(tx: Tx, type: PrealertEventType, changes: PrealertChange[]): void {
  const { traceparent } = tx;
  const ids = newIds(changes.length);
  const events = changes.map(({ id: prealert_id, courierId: courier_id }, index) => {
    const id = ids[index] ?? newId();
    return { id, courier_id, type, prealert_id, data: null, traceparent };
  });
  outboxOf(tx).events.push(...batchOf(events));
}

/**
 * What an event of a pre-alert, a bill or a flight takes with its delivery, for the allowance of written bytes (decision 0131). A request
 * that emits many notes it, whether or not their couriers have chosen the type. One more is within the bytes of the request.
 */
export const OPTIONAL_EVENT_BYTES = 2 * 1024;

type RecordEvent =
  | { courierId: string; type: BillEventType; data: Schemas['EventBill'] }
  | { courierId: string; type: ManifestEventType; data: Schemas['EventManifest'] }
  | { courierId: string; type: 'consignee.notice'; data: Schemas['EventNotice']; id: string };

/** Emits events of bills, manifests or notices whose content the caller has read. Those whose courier has not chosen the type are not stored. */
export function emitRecordEvents(tx: Tx, events: RecordEvent[]): void {
  const { traceparent } = tx;
  const made = events.map(({ courierId: courier_id, type, data, ...event }) => {
    return { id: 'id' in event ? event.id : newId(), courier_id, type, data, traceparent };
  });
  outboxOf(tx).events.push(...batchOf(made));
}

/** Reading and converting a manifest of 10,000 packages at once blocked the event loop for 100 ms. */
const PACKAGES_PER_READ = 1_000;

function makeEvents(
  { traceparent }: Tx,
  type: EventType,
  changes: PackageChange[],
  rows: EventPackageRow[],
): NewEvent[] {
  const byPackage = new Map(changes.map((change) => [change.packageId, change]));
  const ids = newIds(rows.length);
  return rows.map((row, index) => ({
    id: ids[index] ?? newId(),
    courier_id: row.courierId,
    type,
    package_id: row.id,
    data: dataOf(type, row, byPackage.get(row.id)),
    sync_job_id: byPackage.get(row.id)?.syncJobId ?? null,
    traceparent: byPackage.get(row.id)?.traceparent ?? traceparent,
  }));
}

function dataOf(type: EventType, row: EventPackageRow, change: PackageChange | undefined) {
  if (type === 'package.status_changed') return viewStatusChange(row, change);
  const voidedAt = change?.voidedAt;
  const voided = voidedAt === undefined ? {} : { voided_at: voidedAt, voided_at_utc: withZone(voidedAt) };
  return { ...viewPackage(row), ...voided };
}

function viewPackage({ id, courierId: _, ...row }: EventPackageRow): Schemas['EventPackage'] {
  const shown = {
    ...row,
    ...shownPrealert(row),
    trackingNumber: shownNumber(row),
    entryDateTimeUtc: withZone(row.entryDateTime),
  };
  return { package_id: id, ...recordOf(shown, ['weight', 'length', 'width', 'height']) };
}

function viewStatusChange(
  row: EventPackageRow,
  { previousStatus, recorded }: Partial<PackageChange> = {},
): Schemas['EventStatusChange'] {
  if (previousStatus === undefined) throw new Error('A change of status needs the previous status.');
  const { prealertId, reference } = shownPrealert(row);
  return {
    package_id: row.id,
    tracking_number: shownNumber(row),
    house_number: row.houseNumber,
    user_code: row.userCode,
    previous_status: previousStatus,
    status: row.status,
    manifest_number: row.manifestNumber,
    prealert_id: prealertId,
    reference,
    ...recorded,
    ...(recorded?.occurred_at === undefined ? {} : { occurred_at_utc: withZone(recorded.occurred_at) }),
  };
}

/** The pre-alert that the package was matched with. Hidden with the number while the package has no customer: it would show it. */
const shownPrealert = ({
  userCode,
  prealertId,
  reference,
}: Pick<EventPackageRow, 'userCode' | 'prealertId' | 'reference'>) =>
  userCode === null ? { prealertId: null, reference: null } : { prealertId, reference };

/** Events are sent to the courier, so the number is masked while the package has no customer. */
const shownNumber = (row: Pick<EventPackageRow, 'userCode' | 'trackingNumber'>) =>
  row.userCode === null ? maskTrackingNumber(row.trackingNumber) : row.trackingNumber;
