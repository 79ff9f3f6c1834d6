import type { Handlers } from '../../../../generated/handlers.js';
import { byAction } from '../../../platform/contract/types.js';
import type { Deps } from '../../dependencies.js';
import { addAdjustment, removeAdjustment } from '../payments/adjustment.js';
import { readBill } from '../detail/detail.js';
import { viewDetail } from '../detail/view.js';
import { createDraft, deleteDraft } from '../drafts/draft.js';
import { recordPayment, voidPayment } from '../payments/payment.js';
import { publishBill } from '../publication/publish.js';
import * as view from './view.js';

export function billManagementHandlers({ db }: Deps) {
  return {
    manageCourierBills({ body, caller, requestId }) {
      const change = { db, caller, requestId };
      return byAction(body, {
        create_draft: async (wanted) => view.viewCreated(await createDraft(change, wanted)),
        add_adjustment: async (wanted) =>
          view.viewAdjusted('Adjustment added.', await addAdjustment(change, wanted)),
        remove_adjustment: async (wanted) =>
          view.viewAdjusted('Adjustment removed.', await removeAdjustment(change, wanted)),
        publish: async (wanted) => view.viewPublished(await publishBill(change, wanted)),
        record_payment: async (wanted) =>
          view.viewSettled('Payment recorded.', await recordPayment(change, wanted)),
        void_payment: async (wanted) => {
          const settled = await voidPayment(change, wanted);
          return view.viewSettled(
            settled.isChanged ? 'Payment voided.' : 'The payment was voided already.',
            settled,
          );
        },
        delete_draft: async (wanted) => view.viewDeleted(await deleteDraft(change, wanted)),
      });
    },

    getCourierBill: async ({ query, caller }) => viewDetail(await readBill(db, caller, query)),
  } satisfies Pick<Handlers, 'manageCourierBills' | 'getCourierBill'>;
}
