import type { Handlers } from '../../../../generated/handlers.js';
import type { components } from '../../../../generated/contract.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import { recordOf } from '../../../platform/contract/record.js';
import { reply } from '../../../platform/contract/reply.js';
import type { BillMailRow } from './queries.js';
import { listMails, sendBill } from './send.js';

export function billMailHandlers() {
  return {
    async listBillMails({ ctx, query }) {
      const { rows, total } = await listMails(ctx, query);
      return pageReply(query, total, 'mail', rows.map(viewMail));
    },

    async sendBill({ ctx, body }) {
      const { invoiceNumber, mail } = await sendBill(ctx, body);
      return reply(`Bill ${invoiceNumber} will be sent to ${mail.recipient}.`, viewMail(mail));
    },
  } satisfies Partial<Handlers>;
}

const viewMail = (row: BillMailRow): components['schemas']['BillMail'] => recordOf(row);
