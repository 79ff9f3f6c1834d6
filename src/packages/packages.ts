import type { UserCaller } from '../auth/callers.js';
import type { BodyOf } from '../contract/types.js';
import { readInScope, type Db } from '../db/transaction.js';
import { listPackages, totalPackages, type PackageRow, type TotalsRow } from './list-queries.js';

export { receivePackage } from './intake.js';

export type PackagePage = { rows: PackageRow[]; totals: TotalsRow; page: number; limit: number };

const DEFAULT_LIMIT = 25;

/** One page of what the filters select, and the totals of all pages. */
export async function findPackages(
  db: Db,
  caller: UserCaller,
  query: BodyOf<'retrievePackages'> | undefined,
): Promise<PackagePage> {
  // the contract's defaults apply to a body, and there need not be one
  const { page = 1, limit = DEFAULT_LIMIT, ...filters } = query ?? {};
  const [rows, totals] = await readInScope(db, caller, [
    listPackages(db, caller, filters, { page, limit }),
    totalPackages(db, caller, filters),
  ]);
  // as: the shapes that the two statements select
  return { rows: rows as PackageRow[], totals: totals?.[0] as TotalsRow, page, limit };
}
