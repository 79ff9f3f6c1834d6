import type { UserCaller } from '../../platform/identity/callers.js';
import { snapshot, type Db } from '../../platform/db/transaction.js';
import { filtersOf, type PackageQuery } from './list/filters.js';
import { listPackages, totalPackages, type PackageRow, type TotalsRow } from './list/queries.js';

export { queueDispatch } from './dispatch/dispatch.js';
export { listDispatches } from './dispatch/dispatches.js';
export { exportPage } from './export/export.js';
export type { PackageQuery } from './list/filters.js';
export { receivePackage } from './intake/intake.js';
export { updatePackage } from './update/update.js';

export type PackagePage = { rows: PackageRow[]; totals: TotalsRow; page: number; limit: number };

/** Returns one page of the matching packages, and the totals of all pages. */
export async function findPackages(db: Db, caller: UserCaller, query: PackageQuery): Promise<PackagePage> {
  const { page, limit } = query;
  const filters = filtersOf(query);
  const [rows, totals] = await snapshot(db, caller, [
    listPackages(db, caller, filters, { page, limit }),
    totalPackages(db, caller, filters),
  ]);
  // The two statements select exactly these columns.
  return { rows: rows as PackageRow[], totals: totals?.[0] as TotalsRow, page, limit };
}
