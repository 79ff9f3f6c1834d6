import type { ManifestStatus } from '../../../platform/contract/types.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { statusAfter, type PackageStatus } from '../../packages/public.js';
import { foldParcel, type FoldedParcel, type StatusFact } from '../fold/fold.js';
import * as queries from './stored/queries.js';
import type { ReceivedParcel } from './receive.js';
import { MAX_EVENTS } from './stored/select-stored.js';

/** The manifests that the scans of a batch's parcels refer to, and the couriers that have packages on them. */
export type ManifestFacts = { statuses: Map<string, ManifestStatus>; couriers: Map<string, Set<string>> };

export async function readManifests(tx: UserTx, parcels: ReceivedParcel[]): Promise<ManifestFacts> {
  const ids = [
    ...new Set(parcels.flatMap(({ scans }) => scans.flatMap(({ manifestId }) => manifestId ?? []))),
  ];
  const couriers = new Map<string, Set<string>>(ids.map((id) => [id, new Set()]));
  if (ids.length === 0) return { statuses: new Map(), couriers };
  const [manifests, aboard] = await tx.query([
    queries.manifestStatuses(tx, ids),
    queries.couriersOnManifests(tx, ids),
  ]);
  for (const { manifestId, courierId } of aboard) couriers.get(manifestId)?.add(courierId);
  return { statuses: new Map(manifests.map(({ id, status }) => [id, status])), couriers };
}

export function foldStoredParcel(
  parcel: ReceivedParcel,
  { statuses, couriers }: ManifestFacts,
): FoldedParcel {
  const { package: stored, scans, receivedBy } = parcel;
  const courierId = stored?.courierId ?? null;
  return foldParcel({
    scans,
    facts: factsOf(parcel),
    receivedBy,
    statusAfter: statusAfterScan,
    assignment: {
      manifestId: stored?.manifestId ?? null,
      isCourierOn: (id) => courierId !== null && couriers.get(id)?.has(courierId) === true,
    },
    hasLeft: (id) => statuses.get(id) !== 'ready',
  });
}

/**
 * Returns the changes of the status that did not come from scans. If the history does not lead to the package's status, for
 * example after an import, the status counts from the beginning.
 */
function factsOf({ package: stored, scans, events }: ReceivedParcel): StatusFact[] {
  if (!stored) return [];
  const last = events.at(-1)?.status ?? 'received';
  if (last !== stored.status) return [{ status: stored.status, occurredAt: '', recordedAt: '' }];
  const ownEvents = new Set(scans.flatMap(({ eventId }) => eventId ?? []));
  const facts: StatusFact[] = events.filter(({ id }) => !ownEvents.has(id));
  const status = events.length < MAX_EVENTS ? null : (events[0]?.previousStatus ?? null);
  return status === null ? facts : [{ status, occurredAt: '', recordedAt: '' }, ...facts];
}

/** The rules of RecordPackageEvent. */
export const statusAfterScan = (status: PackageStatus, kind: 'hold' | 'deliver'): PackageStatus | undefined =>
  statusAfter(
    { status, unsuspendedStatus: status, hasManifestLeft: false },
    kind === 'hold' ? 'on_hold' : 'delivered',
  );
