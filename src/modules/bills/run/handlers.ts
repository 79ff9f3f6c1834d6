import type { Handlers } from '../../../../generated/handlers.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import { reply } from '../../../platform/contract/reply.js';
import { byAction } from '../../../platform/contract/types.js';
import { countOf } from '../../../platform/values/count-of.js';
import type { Deps } from '../../dependencies.js';
import { draftRun } from './draft-run.js';
import { readBillingRun } from './list.js';
import { publishRun } from './publish-run.js';
import type { RunOutcome } from './results.js';
import { sendRun } from './send-run.js';
import { viewCourier, viewResult, viewTotals } from './view.js';

export function billingRunHandlers({ bulk }: Pick<Deps, 'bulk'>) {
  return {
    async listBillingRun({ ctx, query }) {
      const run = await bulk.limitReport(ctx.caller, () => readBillingRun(ctx, query));
      const page = pageReply(query, run.total, 'courier', run.couriers.map(viewCourier));
      return { ...page, meta: { ...page.meta, totals: viewTotals(run.totals) } };
    },

    async manageBillingRun({ ctx, body }) {
      return byAction(body, {
        draft: async (input) =>
          viewOutcome('drafted', await bulk.limitReport(ctx.caller, () => draftRun(ctx, input))),
        publish: async (input) =>
          viewOutcome('published', await bulk.limitReport(ctx.caller, () => publishRun(ctx, input))),
        send: async (input) =>
          viewOutcome('queued', await bulk.limitReport(ctx.caller, () => sendRun(ctx, input))),
      });
    },
  } satisfies Partial<Handlers>;
}

function viewOutcome(done: 'drafted' | 'published' | 'queued', { results, nextAfter }: RunOutcome) {
  // With other outcomes too: of a courier with an inconsistent draft, the other drafts were published.
  const bills = results.flatMap((result) => (result.outcome === 'unchanged' ? [] : result.bills));
  const message = `${countOf(bills.length, 'bill')} ${done}.`;
  return reply(message, { results: results.map(viewResult), next_after: nextAfter });
}
