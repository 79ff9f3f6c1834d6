import { pause } from '../../../platform/concurrency/pause-when-due.js';
import { newIds } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { queueManifestMails } from '../../mail/public.js';
import { MANIFEST_STATUS_EFFECTS } from '../../packages/public.js';
import { emitPackageEvents } from '../../webhooks/public.js';
import { emitManifestEvents } from './manifest-events.js';
import { appendStatusEvents, setPackageStatus, type ManifestPackageRow } from './package-queries.js';
import type { ManifestRow } from './queries.js';

/** How many packages have a new status, and how many events of the manifest were emitted. */
export type Moved = { packages: number; events: number };

/**
 * Applies a manifest's new status to its locked packages, and queues the events and mails for their couriers. It gives up the turn of the event
 * loop between its parts: each takes up to 20 ms for 10,000 packages.
 */
export async function applyStatusToPackages(
  tx: UserTx,
  manifest: ManifestRow,
  aboard: ManifestPackageRow[],
): Promise<Moved> {
  const effect = MANIFEST_STATUS_EFFECTS[manifest.status];
  const affected = effect ? aboard.filter((row) => effect.from.includes(row.status)) : [];
  if (effect && affected.length > 0) changeStatus(tx, affected, effect.to);
  await pause();
  await queueMails(tx, manifest, aboard);
  const changes = affected.map((row) => ({ packageId: row.id, previousStatus: row.status }));
  await pause();
  await emitPackageEvents(tx, 'package.status_changed', changes);
  await pause();
  const events = emitManifestEvents(tx, manifest, aboard);
  await pause();
  return { packages: affected.length, events };
}

function changeStatus(tx: UserTx, packages: ManifestPackageRow[], status: string): void {
  const ids = packages.map(({ id }) => id);
  // Events first, because they read the packages' previous status.
  tx.later(appendStatusEvents(tx, { ids, eventIds: newIds(ids.length), status }));
  tx.later(setPackageStatus(tx, ids, status));
}

/** Queues one mail per courier with packages on the manifest. It lists only that courier's packages. */
async function queueMails(
  tx: UserTx,
  { id, manifest_number: manifestNumber, status }: ManifestRow,
  aboard: ManifestPackageRow[],
): Promise<void> {
  const couriers = new Set(aboard.flatMap(({ courierId }) => courierId ?? []));
  if (couriers.size === 0 || status === 'draft') return;
  await queueManifestMails(tx, { manifestId: id, manifestNumber, status }, [...couriers]);
}
