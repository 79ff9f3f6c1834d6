import type { components } from '../../../../generated/contract.js';
import type { Db, Tx } from '../../../platform/db/transaction.js';
import { newId, newIds } from '../../../platform/values/ids.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { insertEvents, selectEventPackages, type EventPackageRow, type NewEvent } from './event-queries.js';

type Schemas = components['schemas'];
export type EventType = Schemas[
  'PackageCreatedEvent' | 'PackageUpdatedEvent' | 'PackageStatusChangedEvent']['type'];

/** Something that happened to a package, to be told to its courier. */
export type PackageChange = {
  packageId: string;
  /** For `package.status_changed`: what the status was. */
  previousStatus?: string;
  /** For `package.status_changed`: what staff say of it, where they have recorded it. */
  recorded?: Pick<Schemas['EventStatusChange'], 'occurred_at' | 'location' | 'remarks'>;
  /** For `package.updated`: what of package_syncs it brings. */
  syncJobId?: string;
};

/** Which of a courier's URLs each type goes to. Source: the contract's "Events". */
export const ENDPOINTS = {
  'package.created': 'add_package',
  'package.status_changed': 'update_package',
  'package.updated': 'update_package',
} satisfies Record<EventType, Endpoint>;

/**
 * Records events of packages as these stand now, in the transaction that changes them, and has the couriers told after
 * its commit. Nobody is told of a package of no courier. Make it the last that the transaction writes: it holds the
 * couriers' counters.
 */
export async function recordPackageEvents(
  { db, tx }: { db: Db; tx: Tx },
  type: EventType,
  changes: PackageChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const { tenantId } = tx.caller;
  const events: NewEvent[] = [];
  for (let start = 0; start < changes.length; start += PACKAGES_A_READ)
    events.push(...(await readEvents({ db, tx }, type, changes.slice(start, start + PACKAGES_A_READ))));
  // in one statement: it takes the couriers' counters in one order
  if (events.length > 0) await tx.query(insertEvents(tenantId, events));
}

/** A manifest of 10,000 packages, read and viewed at once, held the event loop for 100 ms. */
const PACKAGES_A_READ = 1_000;

async function readEvents(
  { db, tx }: { db: Db; tx: Tx },
  type: EventType,
  changes: PackageChange[],
): Promise<NewEvent[]> {
  const byPackage = new Map(changes.map((change) => [change.packageId, change]));
  const { tenantId } = tx.caller;
  const rows = await tx.query<EventPackageRow>(selectEventPackages({ db, tenantId }, [...byPackage.keys()]));
  const ids = newIds(rows.length);
  return rows.map((row, index) => ({
    id: ids[index] ?? newId(),
    courier_id: row.courier_id,
    type,
    endpoint: ENDPOINTS[type],
    package_id: row.id,
    data: dataOf(type, row, byPackage.get(row.id)),
    sync_job_id: byPackage.get(row.id)?.syncJobId ?? null,
  }));
}

function dataOf(type: EventType, row: EventPackageRow, change: PackageChange | undefined) {
  return type === 'package.status_changed' ? viewStatusChange(row, change) : viewPackage(row);
}

function viewPackage(row: EventPackageRow): Schemas['EventPackage'] {
  const inches = (text: string | null) => (text === null ? null : Number(text));
  return {
    package_id: row.id,
    tracking_number: shownNumber(row),
    house_number: row.house_number,
    user_code: row.user_code,
    first_name: row.first_name,
    last_name: row.last_name,
    weight: Number(row.weight),
    length: inches(row.length),
    width: inches(row.width),
    height: inches(row.height),
    package_type: row.package_type,
    shipper: row.shipper,
    description: row.description,
    status: statusOf(row.status),
    manifest_number: row.manifest_number,
    entry_date_time: row.entry_date_time,
  };
}

function viewStatusChange(
  row: EventPackageRow,
  { previousStatus, recorded }: Partial<PackageChange> = {},
): Schemas['EventStatusChange'] {
  if (previousStatus === undefined) throw new Error('A change of status needs the status before it.');
  return {
    package_id: row.id,
    tracking_number: shownNumber(row),
    house_number: row.house_number,
    user_code: row.user_code,
    previous_status: statusOf(previousStatus),
    status: statusOf(row.status),
    manifest_number: row.manifest_number,
    ...recorded,
  };
}

/** It leaves for the courier, so it is masked as everywhere else while nobody knows whose parcel it is. */
const shownNumber = (row: EventPackageRow) =>
  row.user_code === null ? maskTrackingNumber(row.tracking_number) : row.tracking_number;

// as: a constraint of the table lets no other word in
const statusOf = (word: string) => word as Schemas['PackageStatus'];
