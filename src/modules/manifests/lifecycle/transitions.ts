import { makeContext } from '../../../platform/context/request-context.js';
import { newIds } from '../../../platform/values/ids.js';
import { queueManifestMails } from '../../mail/public.js';
import { MANIFEST_STATUS_EFFECTS } from '../../packages/public.js';
import { recordPackageEvents } from '../../webhooks/public.js';
import {
  appendStatusEvents,
  lockManifestPackages,
  setPackageStatus,
  type ManifestPackageRow,
} from './cargo-queries.js';
import type { Ctx } from '../shared/context.js';
import type { ManifestRow } from './queries.js';

/** Applies a manifest's new status to its packages, and queues the events and mails for their couriers. */
export async function applyStatusToPackages(ctx: Ctx, manifest: ManifestRow): Promise<void> {
  const aboard = await lockManifestPackages(ctx, manifest.id);
  const carried = MANIFEST_STATUS_EFFECTS[manifest.status];
  const moving = carried ? aboard.filter((row) => carried.from.includes(row.status)) : [];
  if (carried && moving.length > 0) await movePackages(ctx, moving, carried.to);

  await queueMails(ctx, manifest, aboard);
  const changes = moving.map((row) => ({ packageId: row.id, previousStatus: row.status }));
  const { db, tx, caller, requestId } = ctx;
  await recordPackageEvents(makeContext(db, caller, requestId), tx, 'package.status_changed', changes);
}

async function movePackages(ctx: Ctx, moving: ManifestPackageRow[], status: string): Promise<void> {
  const ids = moving.map(({ id }) => id);
  // Events first, because they read the packages' previous status.
  await appendStatusEvents(ctx, { ids, eventIds: newIds(ids.length), status });
  await setPackageStatus(ctx, ids, status);
}

/** Queues one mail per courier with packages on the manifest. It lists only that courier's packages. */
async function queueMails(
  ctx: Ctx,
  { id, manifest_number, status }: ManifestRow,
  aboard: ManifestPackageRow[],
) {
  const couriers = new Set(aboard.flatMap(({ courier_id }) => courier_id ?? []));
  if (couriers.size === 0 || status === 'draft') return;
  await queueManifestMails(ctx.tx, { manifestId: id, manifestNumber: manifest_number, status }, [
    ...couriers,
  ]);
}
