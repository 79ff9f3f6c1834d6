import { readPageBefore, type PageBefore } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { pageOfClaims, type ClaimRow } from './queries.js';

/** Returns claims, newest first. Staff get those of all couriers, a courier gets its own. */
export const listClaims = (
  ctx: UserContext,
  query: QueryOf<'listParcelClaims'>,
): Promise<PageBefore<ClaimRow>> => readPageBefore(ctx, pageOfClaims(ctx, query), query.limit);
