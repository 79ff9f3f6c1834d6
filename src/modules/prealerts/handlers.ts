import type { Handlers } from '../../../generated/handlers.js';
import type { RequestContext } from '../../platform/context/request-context.js';
import type { BodyOf } from '../../platform/contract/types.js';
import type { KeyCaller } from '../../platform/identity/callers.js';
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
type Submission = { ctx: RequestContext<KeyCaller>; body: BodyOf<'submitPrealert'> };

export function prealertHandlers() {
  const submit = async ({ ctx, body }: Submission) => ({
    statusCode: 201 as const,
    message: 'Pre-alert created.',
    data: { prealert_id: await submitPrealert(ctx, body) },
  });

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
