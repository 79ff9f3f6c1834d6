import { pageMeta } from '../../platform/contract/page-reply.js';
import type { Handlers } from '../../../generated/handlers.js';
import { listPrealerts } from './list-prealerts.js';
import { createPrealert, deletePrealert, replacePrealert } from './prealert.js';
import { countOf } from '../../platform/values/count-of.js';
import type { DataOf } from '../../platform/contract/types.js';
import { formatDateTime } from '../../platform/values/time.js';
import type { PrealertRow } from './list-queries.js';

export function prealertHandlers() {
  return {
    async listPrealerts({ ctx, query }) {
      const { rows, stats } = await listPrealerts(ctx, query);
      return {
        statusCode: 200,
        message: `${countOf(stats.total, 'pre-alert')} found.`,
        data: rows.map(viewPrealert),
        meta: { ...pageMeta(query, stats.total), stats },
      };
    },

    async createPrealert({ ctx, body }) {
      const data = await createPrealert(ctx, body);
      return { statusCode: 201, message: 'Pre-alert created.', data };
    },

    async replacePrealert({ ctx, body }) {
      const row = await replacePrealert(ctx, body);
      return { statusCode: 200, message: 'Pre-alert replaced.', data: viewPrealert(row) };
    },

    async deletePrealert({ ctx, body }) {
      await deletePrealert(ctx, body.prealert_id);
      return { statusCode: 200, message: 'Pre-alert deleted.', data: { prealert_id: body.prealert_id } };
    },
  } satisfies Partial<Handlers>;
}

function viewPrealert(row: PrealertRow): DataOf<'replacePrealert'> {
  return {
    prealert_id: row.id,
    courier_id: row.courierId,
    courier_name: row.courierName,
    user_code: row.userCode,
    first_name: row.firstName,
    last_name: row.lastName,
    tracking_number: row.trackingNumber,
    vendor: row.vendor,
    description: row.description,
    reference: row.reference,
    status: row.status,
    created_at: formatDateTime(row.createdAt),
  };
}
