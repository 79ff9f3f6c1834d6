import { newId } from '../../../platform/values/ids.js';
import type { UserTx } from '../../../platform/db/scope.js';
import { recordMoves, type Move } from '../../packages/public.js';
import type { FoldedParcel } from '../fold/fold.js';
import { statusAfterScan } from './fold-stored-parcel.js';
import type { ReceivedParcel } from './receive.js';

/** A status change of a package, and the scan that causes it. */
export type PlannedMove = { scanId: string; move: Move };

/**
 * Returns the status changes that bring a package to its folded status. A scan that arrives late adds no change if a newer scan
 * has already set the status.
 */
export function planMoves(parcel: ReceivedParcel, { steps, status }: FoldedParcel): PlannedMove[] {
  const { package: stored, scans } = parcel;
  if (!stored || status === null || stored.status === status) return [];
  const planned: PlannedMove[] = [];
  let previous = stored.status;
  for (const step of steps) {
    if (previous === status) break;
    const kind = step.status === 'delivered' ? 'deliver' : 'hold';
    const scan = scans.find(({ id }) => id === step.scanId);
    if (!scan || scan.eventId !== null || step.status === previous) continue;
    if (statusAfterScan(previous, kind) !== step.status) continue;
    const remarks = scan.details.remarks ?? null;
    const occurredAt = scan.scannedAt.slice(0, -1).replace('T', ' ');
    const to = { status: step.status, occurredAt, location: null, remarks };
    planned.push({ scanId: scan.id, move: { id: stored.id, eventId: newId(), previous, ...to } });
    previous = step.status;
  }
  if (previous !== status) throw new Error(`The scans of a package lead from ${stored.status} to ${status}.`);
  return planned;
}

/** Records the changes of all packages: the first of each package together, then the second, and so on. */
export async function recordPlanned(tx: UserTx, parcels: PlannedMove[][]): Promise<void> {
  for (let round = 0; ; round += 1) {
    const moves = parcels.flatMap((planned) => planned[round]?.move ?? []);
    if (moves.length === 0) return;
    await recordMoves(tx, moves);
  }
}
