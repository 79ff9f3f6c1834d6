import type { Handlers } from '../../../generated/handlers.js';
import { pageMeta } from '../../platform/contract/page-reply.js';
import { jsonRows } from '../../platform/contract/json-text.js';
import { recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import { byAction, type ReplyOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import { makeLogoPrinter } from '../couriers/public.js';
import type { Deps } from '../dependencies.js';
import { readBill, listBills, readStatement } from './reading.js';
import { downloadBill } from './documents/documents.js';
import { makeInvoiceWriter } from './documents/pdf/writer.js';
import { createDraft, deleteDraft, type CreatedDraft } from './drafts/draft.js';
import { addAdjustment, removeAdjustment, type Adjusted } from './payments/adjustment.js';
import { recordPayment, voidPayment, type Settled } from './payments/payment.js';
import { publishBill, type Published } from './publication/publish.js';
import { reconcile } from './reconciliation/reconciliation.js';
import { viewReconciliation } from './reconciliation/view.js';
import type { TotalsRow } from './shared/locked-bill.js';
import { viewBill, viewDetail, viewStatement } from './view.js';

export function billHandlers({ bulk, drawLogo }: Deps) {
  const printing = { printLogo: makeLogoPrinter(drawLogo), writeInvoice: makeInvoiceWriter() };
  return {
    async listCourierBills({ ctx, query }) {
      const { rows, total } = await listBills(ctx, query);
      const listed = reply(`${countOf(total, 'bill')} found.`, await jsonRows(rows, viewBill));
      return { ...listed, count: rows.length, meta: pageMeta(query, total) };
    },

    getCourierBill: async ({ ctx, query }) => viewDetail(await readBill(ctx, query)),

    downloadCourierBill: async ({ ctx, query }) => ({
      statusCode: 200,
      file: await bulk.limitReport(ctx.caller, () => downloadBill(ctx, query, printing)),
    }),

    getCourierStatement: async ({ ctx, query }) => viewStatement(await readStatement(ctx, query)),

    getBillingReconciliation: async ({ ctx, query }) =>
      viewReconciliation(await bulk.limitReport(ctx.caller, () => reconcile(ctx, query))),

    async manageCourierBills({ ctx, body }) {
      return byAction(body, {
        create_draft: async (input) =>
          viewCreated(await bulk.limitReport(ctx.caller, () => createDraft(ctx, input))),
        add_adjustment: async (input) => viewAdjusted('Adjustment added.', await addAdjustment(ctx, input)),
        remove_adjustment: async (input) =>
          viewAdjusted('Adjustment removed.', await removeAdjustment(ctx, input)),
        publish: async (input) => viewPublished(await publishBill(ctx, input)),
        record_payment: async (input) => viewSettled('Payment recorded.', await recordPayment(ctx, input)),
        void_payment: async (input) => {
          const settled = await voidPayment(ctx, input);
          const message = settled.isChanged ? 'Payment voided.' : 'The payment was voided already.';
          return viewSettled(message, settled);
        },
        delete_draft: async (input): Managed =>
          reply('Draft deleted.', { bill_id: await deleteDraft(ctx, input) }),
      });
    },
  } satisfies Partial<Handlers>;
}

type Reply = ReplyOf<'manageCourierBills'>;
type Managed = Promise<Reply>;

const viewCreated = ({ billId, invoiceNumber, row, warnings }: CreatedDraft): Reply =>
  reply(`Bill of ${countOf(row.totalPackages, 'package')} drafted.`, {
    bill_id: billId,
    invoice_number: invoiceNumber,
    status: 'draft',
    total_packages: row.totalPackages,
    ...viewTotals(row),
    left_out: { already_billed: row.alreadyBilled },
    warnings,
  });

const viewAdjusted = (message: string, { billId, lineId, totals }: Adjusted): Reply =>
  reply(message, { bill_id: billId, line_id: lineId, ...viewTotals(totals) });

const viewTotals = ({ subtotal, taxAmount, totalAmount }: TotalsRow) =>
  recordOf({ subtotal, taxAmount, totalAmount }, ['subtotal', 'taxAmount', 'totalAmount']);

const viewPublished = ({ billId, row: { sequenceNumber: _, ...row } }: Published): Reply =>
  reply(`Bill ${row.invoiceNumber} published.`, { bill_id: billId, ...recordOf(row, ['totalAmount']) });

const viewSettled = (message: string, { billId, paymentId, row }: Settled): Reply =>
  reply(message, {
    bill_id: billId,
    payment_id: paymentId,
    paid_amount: Number(row.paidAmount),
    balance: Number(row.balance),
    status: row.status,
  });
