import type { Handlers } from '../../../generated/handlers.js';
import type { HandlerRequest } from '../../platform/contract/types.js';
import type { Deps } from '../dependencies.js';
import {
  createPrealert,
  deletePrealert,
  listPrealerts,
  replacePrealert,
  submitPrealert,
} from './prealert.js';
import { viewPrealert } from './view.js';

type Operations =
  | 'submitPrealert'
  | 'submitPrealertWithoutSuffix'
  | 'listPrealerts'
  | 'createPrealert'
  | 'replacePrealert'
  | 'deletePrealert';

// Two paths share one operation.
type Submission = Pick<HandlerRequest<'submitPrealert'>, 'body' | 'caller' | 'requestId'>;

export function prealertHandlers({ db }: Deps) {
  const submit = async ({ body, caller, requestId }: Submission) => ({
    statusCode: 201 as const,
    message: 'Pre-alert created.',
    data: { prealert_id: await submitPrealert(db, caller, requestId, body) },
  });

  return {
    submitPrealert: submit,
    submitPrealertWithoutSuffix: submit,

    async listPrealerts({ query, caller }) {
      const { rows, stats } = await listPrealerts(db, caller, query);
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

    async createPrealert({ body, caller, requestId }) {
      const id = await createPrealert(db, caller, requestId, body);
      return { statusCode: 201, message: 'Pre-alert created.', data: { prealert_id: id } };
    },

    async replacePrealert({ body, caller, requestId }) {
      const row = await replacePrealert(db, caller, requestId, body);
      return { statusCode: 200, message: 'Pre-alert replaced.', data: viewPrealert(row) };
    },

    async deletePrealert({ body, caller, requestId }) {
      await deletePrealert(db, caller, requestId, body.prealert_id);
      return { statusCode: 200, message: 'Pre-alert deleted.', data: { prealert_id: body.prealert_id } };
    },
  } satisfies Pick<Handlers, Operations>;
}
