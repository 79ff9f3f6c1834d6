import { pageMeta } from '../../../platform/contract/page-reply.js';
import type { Handlers } from '../../../../generated/handlers.js';
import { readLoading } from './read-loading.js';
import { viewLoading } from './view.js';

export function manifestLoadingHandlers() {
  return {
    async getManifestLoading({ ctx, query }) {
      const loading = await readLoading(ctx, query);
      const { loaded, expected, extra } = loading.counts;
      return {
        statusCode: 200,
        message: `${loaded} of ${expected} packages loaded. ${extra} extra.`,
        data: viewLoading(loading, query.list),
        meta: pageMeta(query, loading.total),
      };
    },
  } satisfies Partial<Handlers>;
}
