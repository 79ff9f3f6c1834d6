import type { UserCaller } from '../../../platform/identity/callers.js';
import { snapshot, type Db } from '../../../platform/db/transaction.js';
import { findHistory, findTrackedPackage, type HistoryRow, type TrackedRow } from './history-queries.js';
import { hiddenRecordError } from '../update/update.js';
import { packageHasCourier } from '../update/queries.js';

export type History = { tracked: TrackedRow; events: HistoryRow[] };

/**
 * Returns a package's history, oldest event first.
 * @throws ApiError package_not_found, record_forbidden
 */
export async function readHistory(db: Db, caller: UserCaller, packageId: string): Promise<History> {
  const [tracked, events, hidden] = await snapshot(db, caller, [
    findTrackedPackage(db, caller, packageId),
    findHistory(db, caller, packageId),
    packageHasCourier(packageId),
  ]);
  // The statements select exactly these columns.
  const found = tracked?.[0] as TrackedRow | undefined;
  if (!found) throw hiddenRecordError(caller, hidden?.[0]?.['is_couriers'] === true);
  return { tracked: found, events: events as HistoryRow[] };
}
