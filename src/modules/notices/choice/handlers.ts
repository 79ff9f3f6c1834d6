import type { Handlers } from '../../../../generated/handlers.js';
import { languageOf } from '../../../platform/pages/language.js';
import { replyWithPage } from '../../../platform/pages/page.js';
import type { Deps } from '../../dependencies.js';
import { choose, readChoice } from './choice.js';
import { openChoiceLimits } from './limits.js';
import { viewChoice } from './view.js';

export function noticeChoiceHandlers({ limits: shared }: Pick<Deps, 'limits'>) {
  const limits = openChoiceLimits(shared);
  return {
    async getNoticeChoice({ ctx, path, query, acceptLanguage, address }) {
      const row = await readChoice(ctx, path.key, { limits, address });
      return replyWithPage(viewChoice(row, languageOf(query.lang, acceptLanguage)));
    },

    async submitNoticeChoice({ ctx, path, query, body, acceptLanguage, address }) {
      const row = await choose(ctx, path.key, body, { limits, address });
      return replyWithPage(viewChoice(row, languageOf(query.lang, acceptLanguage)));
    },
  } satisfies Partial<Handlers>;
}
