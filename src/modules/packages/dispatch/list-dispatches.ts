import { readPageBefore } from '../../../platform/context/read-page.js';
import type { UserContext } from '../../../platform/context/request-context.js';
import { pageOfDispatches, type DispatchQuery } from './queries.js';

/** Returns dispatches and their progress. Staff see all dispatches, a courier sees those of its own users. */
export const listDispatches = (ctx: UserContext, query: DispatchQuery) =>
  readPageBefore(ctx, pageOfDispatches(ctx, query), query.limit);
