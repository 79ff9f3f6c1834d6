import type { Page } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import {
  countOfAccounts,
  pageOfAccounts,
  totalOfAccounts,
  type AccountRow,
  type AccountsQuery,
  type SumsRow,
} from './queries.js';

/** Returns one page of what couriers owe today, and the sums over all couriers, from one snapshot. */
export async function readAccounts(
  ctx: UserContext,
  query: AccountsQuery,
): Promise<Page<AccountRow> & { totals: SumsRow & { as_of: string } }> {
  const [rows, [counted], [totals]] = await ctx.read([
    pageOfAccounts(ctx, query),
    countOfAccounts(ctx, query),
    totalOfAccounts(ctx),
  ]);
  if (!totals) throw new Error('A sum returned no row.');
  return { rows, total: counted?.total ?? 0, totals };
}
