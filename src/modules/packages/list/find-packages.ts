import type { UserContext } from '../../../platform/context/request-context.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { filtersOf, hasCappedFilters, type PackageQuery } from './filters.js';
import {
  isNewestFirst,
  listPackages,
  MAX_COUNTED,
  totalPackages,
  type PackageRow,
  type TotalsRow,
} from './queries.js';
import { zoneOfDays } from '../../tenant-settings/public.js';

export type PackagePage = {
  rows: PackageRow[];
  totals: TotalsRow;
  /** Whether all matching packages were counted. */
  isExact: boolean;
  /** The last page that can be requested. */
  lastPage: number;
  page: number;
  limit: number;
};

/**
 * Returns one page of the matching packages, and the totals of all pages.
 * @throws ApiError validation_failed, also for a page past the packages that such a list reaches
 */
export async function findPackages(ctx: UserContext, query: PackageQuery): Promise<PackagePage> {
  const { page, limit, sort_by, sort_dir } = query;
  const filters = filtersOf(query, await zoneOfDays(ctx, query.day_zone));
  const isCapped = hasCappedFilters(filters);
  const reachable = isCapped || !isNewestFirst(query) ? Math.floor(MAX_COUNTED / limit) : Infinity;
  if (page > reachable) throw invalidFieldError('page', 'unreachable_page', { limit: reachable });
  const [rows, [totals]] = await ctx.read([
    listPackages(ctx, filters, { page, limit, sort_by, sort_dir }),
    totalPackages(ctx, filters),
  ]);
  if (!totals) throw new Error('An aggregate returned no row.');
  const isExact = !isCapped || totals.totalCount <= MAX_COUNTED;
  const totalCount = isExact ? totals.totalCount : MAX_COUNTED;
  const lastPage = Math.min(Math.ceil(totalCount / limit), reachable);
  return { rows, totals: { ...totals, totalCount }, isExact, lastPage, page, limit };
}
