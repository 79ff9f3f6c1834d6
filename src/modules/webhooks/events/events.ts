import type { components } from '../../../../generated/contract.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import type { PlainTx } from '../../../platform/db/statements.js';
import { newId, newIds } from '../../../platform/values/ids.js';
import { maskTrackingNumber } from '../../tracking-numbers/public.js';
import type { Endpoint } from '../../../platform/queue/delivery-queues.js';
import { insertEvents, selectEventPackages, type EventPackageRow, type NewEvent } from './event-queries.js';

type Schemas = components['schemas'];
export type EventType = Schemas[
  'PackageCreatedEvent' | 'PackageUpdatedEvent' | 'PackageStatusChangedEvent']['type'];

/** A change of a package to report to its courier. */
export type PackageChange = {
  packageId: string;
  /** For `package.status_changed`: the previous status. */
  previousStatus?: string;
  /** For `package.status_changed`: the details of an event recorded by staff. */
  recorded?: Pick<Schemas['EventStatusChange'], 'occurred_at' | 'location' | 'remarks'>;
  /** For `package.updated`: the synchronisation (package_syncs) that the event delivers. */
  syncJobId?: string;
};

/** The URL that receives each event type. Source: the contract's "Events". */
export const ENDPOINTS = {
  'package.created': 'add_package',
  'package.status_changed': 'update_package',
  'package.updated': 'update_package',
} satisfies Record<EventType, Endpoint>;

/** A request context is one. */
type EventScope = Pick<RequestContext, 'tenantId' | 'applicationFilters'>;

/**
 * Records events with the packages' current state in the transaction that changes them (transactional
 * outbox). They are delivered after the commit. Packages without a courier have no events. Must be the last
 * write of the transaction, because it locks the couriers' counters.
 */
export async function recordPackageEvents(
  ctx: EventScope,
  tx: PlainTx,
  type: EventType,
  changes: PackageChange[],
): Promise<void> {
  if (changes.length === 0) return;
  const events: NewEvent[] = [];
  for (let start = 0; start < changes.length; start += PACKAGES_PER_READ)
    events.push(...(await readEvents(ctx, tx, type, changes.slice(start, start + PACKAGES_PER_READ))));
  // One statement, so that all transactions lock the couriers' counters in the same order.
  if (events.length > 0) await tx.query(insertEvents(ctx.tenantId, events));
}

/** Reading and converting a manifest of 10,000 packages at once blocked the event loop for 100 ms. */
const PACKAGES_PER_READ = 1_000;

async function readEvents(
  ctx: EventScope,
  tx: PlainTx,
  type: EventType,
  changes: PackageChange[],
): Promise<NewEvent[]> {
  const byPackage = new Map(changes.map((change) => [change.packageId, change]));
  const scope = { db: ctx, tenantId: ctx.tenantId };
  const rows = await tx.query<EventPackageRow>(selectEventPackages(scope, [...byPackage.keys()]));
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

/** Events are sent to the courier, so the number is masked while the package has no customer. */
const shownNumber = (row: EventPackageRow) =>
  row.user_code === null ? maskTrackingNumber(row.tracking_number) : row.tracking_number;

// A constraint of the table allows only these values.
const statusOf = (word: string) => word as Schemas['PackageStatus'];
