import type { Handlers } from '../../../../generated/handlers.js';
import { byAction } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { readBill } from '../detail/detail.js';
import { viewDetail } from '../detail/view.js';
import { createDraft, deleteDraft } from '../drafts/draft.js';
import { addAdjustment, removeAdjustment } from '../payments/adjustment.js';
import { recordPayment, voidPayment } from '../payments/payment.js';
import { publishBill } from '../publication/publish.js';
import * as view from './view.js';

export function billManagementHandlers({ bulk }: Deps) {
  return {
    async manageCourierBills({ ctx, body }) {
      return byAction(body, {
        create_draft: async (input) =>
          view.viewCreated(await bulk.limitReport(ctx.caller, () => createDraft(ctx, input))),
        add_adjustment: async (input) =>
          view.viewAdjusted('Adjustment added.', await addAdjustment(ctx, input)),
        remove_adjustment: async (input) =>
          view.viewAdjusted('Adjustment removed.', await removeAdjustment(ctx, input)),
        publish: async (input) => view.viewPublished(await publishBill(ctx, input)),
        record_payment: async (input) =>
          view.viewSettled('Payment recorded.', await recordPayment(ctx, input)),
        void_payment: async (input) => {
          const settled = await voidPayment(ctx, input);
          const message = settled.isChanged ? 'Payment voided.' : 'The payment was voided already.';
          return view.viewSettled(message, settled);
        },
        delete_draft: async (input) => view.viewDeleted(await deleteDraft(ctx, input)),
      });
    },

    getCourierBill: async ({ ctx, query }) => viewDetail(await readBill(ctx, query)),
  } satisfies Partial<Handlers>;
}
