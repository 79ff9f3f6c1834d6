import type { Handlers } from '../../../generated/handlers.js';
import { listPrealerts } from './list-prealerts.js';
import { createPrealert, deletePrealert, replacePrealert } from './prealert.js';
import { viewPrealert } from './view.js';
import { countOf } from '../../platform/values/count-of.js';

type Operations = 'listPrealerts' | 'createPrealert' | 'replacePrealert' | 'deletePrealert';

export function prealertHandlers() {
  return {
    async listPrealerts({ ctx, query }) {
      const { rows, stats } = await listPrealerts(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(stats.total, 'pre-alert')} found.`,
        data: rows.map(viewPrealert),
        meta: {
          current_page: query.page,
          per_page: query.limit,
          total_records: stats.total,
          total_pages: Math.ceil(stats.total / query.limit),
          stats,
        },
      };
    },

    async createPrealert({ ctx, body }) {
      const id = await createPrealert(ctx, body);
      return { statusCode: 201, message: 'Pre-alert created.', data: { prealert_id: id } };
    },

    async replacePrealert({ ctx, body }) {
      const row = await replacePrealert(ctx, body);
      return { statusCode: 200, message: 'Pre-alert replaced.', data: viewPrealert(row) };
    },

    async deletePrealert({ ctx, body }) {
      await deletePrealert(ctx, body.prealert_id);
      return { statusCode: 200, message: 'Pre-alert deleted.', data: { prealert_id: body.prealert_id } };
    },
  } satisfies Pick<Handlers, Operations>;
}
