import type { components } from '../../../../generated/contract.js';
import { recordOf } from '../../../platform/contract/record.js';
import { newId, newIds } from '../../../platform/values/ids.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import type { Tx } from '../../../platform/db/scope.js';
import { batchOf, selectEventPackages, type EventPackageRow, type NewEvent } from './event-queries.js';
import { outboxOf } from './outbox.js';

type Schemas = components['schemas'];
export type EventType = Schemas[
  | 'PackageCreatedEvent'
  | 'PackageUpdatedEvent'
  | 'PackageStatusChangedEvent']['type'];

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

/** The URL that receives each event type. Source: the contract's "Events". */
export const ENDPOINTS = {
  'package.created': 'add_package',
  'package.status_changed': 'update_package',
  'package.updated': 'update_package',
} satisfies Record<EventType, Endpoint>;

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
    endpoint: ENDPOINTS[type],
    package_id: row.id,
    data: dataOf(type, row, byPackage.get(row.id)),
    sync_job_id: byPackage.get(row.id)?.syncJobId ?? null,
    traceparent: byPackage.get(row.id)?.traceparent ?? traceparent,
  }));
}

function dataOf(type: EventType, row: EventPackageRow, change: PackageChange | undefined) {
  if (type === 'package.status_changed') return viewStatusChange(row, change);
  const voided = change?.voidedAt === undefined ? {} : { voided_at: change.voidedAt };
  return { ...viewPackage(row), ...voided };
}

function viewPackage({ id, courierId: _, ...row }: EventPackageRow): Schemas['EventPackage'] {
  const shown = { ...row, trackingNumber: shownNumber(row) };
  return { package_id: id, ...recordOf(shown, ['weight', 'length', 'width', 'height']) };
}

function viewStatusChange(
  row: EventPackageRow,
  { previousStatus, recorded }: Partial<PackageChange> = {},
): Schemas['EventStatusChange'] {
  if (previousStatus === undefined) throw new Error('A change of status needs the previous status.');
  return {
    package_id: row.id,
    tracking_number: shownNumber(row),
    house_number: row.houseNumber,
    user_code: row.userCode,
    previous_status: previousStatus,
    status: row.status,
    manifest_number: row.manifestNumber,
    ...recorded,
  };
}

/** Events are sent to the courier, so the number is masked while the package has no customer. */
const shownNumber = (row: Pick<EventPackageRow, 'userCode' | 'trackingNumber'>) =>
  row.userCode === null ? maskTrackingNumber(row.trackingNumber) : row.trackingNumber;
