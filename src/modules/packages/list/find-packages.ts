import type { UserContext } from '../../../platform/context/request-context.js';
import { filtersOf, type PackageQuery } from './filters.js';
import { listPackages, totalPackages, type PackageRow, type TotalsRow } from './queries.js';

export type PackagePage = { rows: PackageRow[]; totals: TotalsRow; page: number; limit: number };

/** Returns one page of the matching packages, and the totals of all pages. */
export async function findPackages(ctx: UserContext, query: PackageQuery): Promise<PackagePage> {
  const { page, limit } = query;
  const filters = filtersOf(query);
  const [rows, [totals]] = await ctx.read([
    listPackages(ctx, filters, { page, limit }),
    totalPackages(ctx, filters),
  ]);
  if (!totals) throw new Error('An aggregate returned no row.');
  return { rows, totals, page, limit };
}
