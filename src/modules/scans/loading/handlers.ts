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
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: loading.total,
          total_pages: Math.ceil(loading.total / query.limit),
        },
      };
    },
  } satisfies Pick<Handlers, 'getManifestLoading'>;
}
