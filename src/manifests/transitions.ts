import type { components } from '../../generated/contract.js';
import { Fault } from '../errors.js';
import { newId } from '../ids.js';
import { enqueueStatement, type JobRequest } from '../jobs/enqueue.js';
import { maskTrackingNumber } from '../packages/masking.js';
import { formatDateTime } from '../time.js';
import { appendStatusEvents, lockAboard, setPackageStatus, type AboardRow } from './cargo-queries.js';
import type { Ctx } from './context.js';
import type { ManifestRow } from './queries.js';

export type ManifestStatus = components['schemas']['ManifestStatus'];

const NEXT = {
  draft: 'ready',
  ready: 'shipped',
  shipped: 'completed',
  completed: null,
} satisfies Record<ManifestStatus, ManifestStatus | null>;

/** What a manifest's step makes of the packages aboard. */
const PACKAGE_STATUS: Partial<Record<ManifestStatus, string>> = {
  shipped: 'shipped',
  completed: 'delivered',
};

/** A package that has come to its end stays there, whatever its manifest does. */
const FINAL = new Set(['delivered', 'returned', 'lost']);

/** @throws Fault manifest_invalid_transition unless `to` is where the manifest is, or its next step */
export function assertStep(from: ManifestStatus, to: ManifestStatus): void {
  const next = NEXT[from];
  if (to === from || to === next) return;
  const rule = next ? `can only become ${next}` : 'stays as it is';
  throw new Fault('manifest_invalid_transition', `A manifest in ${from} ${rule}.`);
}

/** Carries a manifest's new status to the packages aboard, and queues what their couriers are told. */
export async function carryStatus(ctx: Ctx, manifest: ManifestRow): Promise<void> {
  const aboard = await lockAboard(ctx, manifest.id);
  const status = PACKAGE_STATUS[manifest.status];
  const moving = status ? aboard.filter((row) => !FINAL.has(row.status) && row.status !== status) : [];
  if (status && moving.length > 0) await movePackages(ctx, moving, status);

  const notices = status ? moving.flatMap((row) => packageNotice(manifest, row, status)) : [];
  const jobs = [...statusMails(manifest, aboard), ...notices];
  if (jobs.length > 0) await ctx.tx.execute(enqueueStatement(ctx.caller.tenantId, jobs));
}

async function movePackages(ctx: Ctx, moving: AboardRow[], status: string): Promise<void> {
  const ids = moving.map(({ id }) => id);
  // first the events, which read the status that the packages still have
  await appendStatusEvents(ctx, { ids, eventIds: ids.map(() => newId()), status });
  await setPackageStatus(ctx, ids, status);
}

/** `manifest.status_mail`: one a courier with packages aboard; the mail lists that courier's own. */
function statusMails({ id, manifest_number, status }: ManifestRow, aboard: AboardRow[]): JobRequest[] {
  const couriers = new Set(aboard.flatMap(({ courier_id }) => courier_id ?? []));
  const payload = { manifest_id: id, manifest_number, status };
  return [...couriers].map((courierId) => ({ kind: 'manifest.status_mail', courierId, payload }));
}

/**
 * `package.status_changed`, for the endpoint of the package's courier, to whom the number of a parcel whose customer is
 * unknown is masked here as everywhere else; nobody is told of a package of no courier.
 */
function packageNotice(manifest: ManifestRow, row: AboardRow, status: string): JobRequest[] {
  if (row.courier_id === null) return [];
  const payload = {
    package_id: row.id,
    tracking_number: row.user_code === null ? maskTrackingNumber(row.tracking_number) : row.tracking_number,
    previous_status: row.status,
    status,
    manifest_number: manifest.manifest_number,
    occurred_at: formatDateTime(manifest.now),
  };
  return [{ kind: 'package.status_changed', courierId: row.courier_id, payload }];
}
