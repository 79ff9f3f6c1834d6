import { readPage, type Page } from '../../platform/context/read-page.js';
import type { UserContext } from '../../platform/context/request-context.js';
import type { QueryOf } from '../../platform/contract/types.js';
import { countNotices, pageOfNotices, type NoticeRow } from './list-queries.js';

export const listNotices = (ctx: UserContext, query: QueryOf<'listNotices'>): Promise<Page<NoticeRow>> =>
  readPage(ctx, pageOfNotices(ctx, query), countNotices(ctx, query));
