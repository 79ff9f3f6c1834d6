import type { Handlers } from '../../../generated/handlers.js';
import { NDJSON, type HandlerRequest, type ReplyOf } from '../../platform/contract/types.js';
import { submitBatch } from './batch/submit-batch.js';
import { describeBatch, viewBatch } from './batch/view.js';
import { listPrealerts } from './list-prealerts.js';
import { createPrealert, deletePrealert, replacePrealert, submitPrealert } from './prealert.js';
import { viewPrealert } from './view.js';

type Operations =
  | 'submitPrealert'
  | 'submitPrealertWithoutSuffix'
  | 'listPrealerts'
  | 'createPrealert'
  | 'replacePrealert'
  | 'deletePrealert';

// Two paths share one operation.
type Submission = HandlerRequest<'submitPrealert'> | HandlerRequest<'submitPrealertWithoutSuffix'>;

export function prealertHandlers() {
  const submit = async (request: Submission): Promise<ReplyOf<'submitPrealert'>> => {
    const { ctx, query } = request;
    if (request.mediaType === NDJSON) {
      const data = viewBatch(await submitBatch(ctx, request.body.lines, query.atomic));
      return { statusCode: 200, message: describeBatch(data), data };
    }
    const id = await submitPrealert(ctx, request.body);
    return { statusCode: 201, message: 'Pre-alert created.', data: { prealert_id: id } };
  };

  return {
    submitPrealert: submit,
    submitPrealertWithoutSuffix: submit,

    async listPrealerts({ ctx, query }) {
      const { rows, stats } = await listPrealerts(ctx, query);
      return {
        statusCode: 200,
        message: `${stats.total} pre-alerts found.`,
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
