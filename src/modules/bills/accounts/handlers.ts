import type { Handlers } from '../../../../generated/handlers.js';
import type { components } from '../../../../generated/contract.js';
import { pageReply } from '../../../platform/contract/page-reply.js';
import type { DataOf } from '../../../platform/contract/types.js';
import { readAccounts } from './accounts.js';
import type { AccountRow, SumsRow } from './queries.js';

export function billAccountHandlers() {
  return {
    async listCourierStatements({ ctx, query }) {
      const { rows, total, totals } = await readAccounts(ctx, query);
      const page = pageReply(query, total, 'courier', rows.map(viewAccount));
      return { ...page, meta: { ...page.meta, as_of: totals.as_of, totals: viewSums(totals) } };
    },
  } satisfies Partial<Handlers>;
}

const viewAccount = (row: AccountRow): DataOf<'listCourierStatements'>[number] => ({
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  courier_code: row.courier_code,
  ...viewSums(row),
  oldest_due_date: row.oldest_due_date,
});

const viewSums = (row: SumsRow): components['schemas']['AccountFigures'] => ({
  balance: Number(row.balance),
  overdue: Number(row.overdue),
  unpaid_bills: row.unpaid_bills,
  due_ageing: {
    current: Number(row.late_0),
    days_1_30: Number(row.late_1_30),
    days_31_60: Number(row.late_31_60),
    days_61_90: Number(row.late_61_90),
    days_over_90: Number(row.late_over_90),
  },
});
