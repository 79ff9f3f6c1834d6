import { readPage, type Page } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { countRefusals, pageOfRefusals, type RefusalRow } from './order-queries.js';

export const listRefusals = (
  ctx: UserContext,
  query: QueryOf<'listFeedRefusals'>,
): Promise<Page<RefusalRow>> => readPage(ctx, pageOfRefusals(ctx, query), countRefusals(ctx, query));
