import type { Page } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import type { PrealertRow } from './list-queries.js';
import { countMissing, pageOfMissing } from './missing-queries.js';

/** Returns one page of the pre-alerts whose parcel was delivered and not scanned, and the hours that were applied. */
export async function listMissing(
  ctx: UserContext,
  query: QueryOf<'listMissingPrealerts'>,
): Promise<Page<PrealertRow> & { afterHours: number }> {
  const [rows, [counted]] = await ctx.read([pageOfMissing(ctx, query), countMissing(ctx, query)]);
  if (!counted) throw new Error('An aggregate returned no row.');
  return { rows, ...counted };
}
