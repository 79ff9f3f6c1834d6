import type { Handlers } from '../../../generated/handlers.js';
import { pageMeta, pageReply } from '../../platform/contract/page-reply.js';
import { recordOf } from '../../platform/contract/record.js';
import { outcomeOf, reply } from '../../platform/contract/reply.js';
import type { DataOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import type { Deps } from '../dependencies.js';
import { listPrealerts } from './list-prealerts.js';
import type { PrealertRow } from './list-queries.js';
import { listMissing } from './list-missing.js';
import { createPrealert, deletePrealert, replacePrealert } from './prealert.js';
import { reviewPrealert } from './review.js';
import { setCarrier } from './set-carrier.js';

export function prealertHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    async listPrealerts({ ctx, query }) {
      const { rows, stats } = await bulk.limitSearch(ctx.caller, Boolean(query.search), () =>
        listPrealerts(ctx, query),
      );
      const message = `${countOf(stats.total, 'pre-alert')} found.`;
      const meta = { ...pageMeta(query, stats.total), stats };
      return { ...reply(message, rows.map(viewPrealert)), meta };
    },

    async createPrealert({ ctx, body }) {
      const data = await createPrealert(ctx, body);
      return { statusCode: 201, message: 'Pre-alert created.', data };
    },

    replacePrealert: async ({ ctx, body }) =>
      reply('Pre-alert replaced.', viewPrealert(await replacePrealert(ctx, body))),

    async deletePrealert({ ctx, body: { prealert_id } }) {
      await deletePrealert(ctx, prealert_id);
      return reply('Pre-alert deleted.', { prealert_id });
    },

    async listMissingPrealerts({ ctx, query }) {
      const { rows, total, afterHours } = await listMissing(ctx, query);
      const { meta, ...page } = pageReply(query, total, 'pre-alert', rows.map(viewPrealert));
      return { ...page, meta: { ...meta, after_hours: afterHours } };
    },

    async setPrealertCarrier({ ctx, body }) {
      const { row, isChanged } = await setCarrier(ctx, body);
      const message = outcomeOf(
        isChanged,
        'Carrier corrected.',
        'The carrier is already the one that was sent.',
      );
      return reply(message, viewPrealert(row));
    },

    async reviewPrealert({ ctx, body }) {
      const { status, packageId, isAssigned } = await reviewPrealert(ctx, body);
      const outcome = isAssigned ? 'The package was assigned to the courier.' : `The pre-alert is ${status}.`;
      const { prealert_id } = body;
      const data = { prealert_id, status, package_id: packageId, assigned: isAssigned };
      return reply(`Flag cleared. ${outcome}`, data);
    },
  } satisfies Partial<Handlers>;
}

const viewPrealert = ({ id, ...row }: PrealertRow): DataOf<'replacePrealert'> => ({
  prealert_id: id,
  ...recordOf(row),
});
