import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfDispatches, type DispatchQuery, type DispatchRow } from './queries.js';

export type DispatchPage = { rows: DispatchRow[]; limit: number; nextBefore: string | null };

/** Returns dispatches and their progress. Staff see all dispatches, a courier sees those of its own users. */
export async function listDispatches(ctx: UserContext, query: DispatchQuery): Promise<DispatchPage> {
  const { limit } = query;
  const [found] = await ctx.read([pageOfDispatches(ctx, query)]);
  const rows = found.slice(0, limit);
  return { rows, limit, nextBefore: found.length > limit ? (rows.at(-1)?.id ?? null) : null };
}
