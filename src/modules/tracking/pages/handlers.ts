import type { Handlers } from '../../../../generated/handlers.js';
import { languageOf } from '../../../platform/pages/language.js';
import { replyWithPage } from '../../../platform/pages/page.js';
import type { Deps } from '../../dependencies.js';
import { openPageLimits } from './limits.js';
import { readPage, readSearch, search } from './show.js';
import { viewPage, viewSearch } from './view.js';

export function trackingPageHandlers({ secrets, limits: shared }: Pick<Deps, 'secrets' | 'limits'>) {
  const limits = openPageLimits(shared);
  return {
    async getTrackingPage({ ctx, path, query, acceptLanguage, address }) {
      const row = await readPage(ctx, path.key, { secrets, limits, address });
      return replyWithPage(viewPage(row, languageOf(query.lang, acceptLanguage), { root: '../' }));
    },

    async getTrackingSearch({ ctx, query, acceptLanguage, address }) {
      const courier = await readSearch(ctx, query.courier, { limits, address });
      const language = languageOf(query.lang, acceptLanguage);
      return replyWithPage(viewSearch(courier, language, { code: query.courier, isEmpty: false }));
    },

    async submitTrackingSearch({ ctx, query, body, acceptLanguage, address }) {
      const { courier, page } = await search(ctx, query.courier, body, { limits, address });
      const language = languageOf(query.lang, acceptLanguage);
      if (!page) return replyWithPage(viewSearch(courier, language, { code: query.courier, isEmpty: true }));
      return replyWithPage(viewPage(page, language, { root: '', code: query.courier }));
    },
  } satisfies Partial<Handlers>;
}
