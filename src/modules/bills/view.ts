import { jsonRows } from '../../platform/contract/json-text.js';
import { pageMeta } from '../../platform/contract/page-reply.js';
import { numberOrNull, recordOf } from '../../platform/contract/record.js';
import { reply } from '../../platform/contract/reply.js';
import type { DataOf } from '../../platform/contract/types.js';
import { countOf } from '../../platform/values/count-of.js';
import type { BillDetail, Statement } from './reading.js';
import type { BillLineRow, Party, PaymentRow } from './detail/queries.js';
import type { BillRow } from './shared/bill-row.js';
import type { MovementRow } from './statement/queries.js';

type Detail = DataOf<'getCourierBill'>;

export const viewBill = ({ id, ...row }: BillRow): DataOf<'listCourierBills'>[number] => ({
  bill_id: id,
  ...recordOf(row, ['taxRate', 'subtotal', 'taxAmount', 'totalAmount', 'paidAmount', 'balance']),
});

export async function viewDetail({ query, bill, lines, totalLines, payments }: BillDetail) {
  const { billFrom, billTo, remarks, storedDueDate: _, ...row } = bill;
  const data: Detail = {
    ...viewBill(row),
    remarks,
    bill_from: viewParty(billFrom),
    bill_to: {
      ...viewParty(billTo),
      code: billTo.code ?? row.courierCode,
      company_name: billTo.company_name ?? null,
    },
    lines: await jsonRows(lines, viewLine),
    payments: await jsonRows(payments, viewPayment),
  };
  return { ...reply(`Bill ${row.invoiceNumber}.`, data), meta: pageMeta(query, totalLines) };
}

/** Stored parties of earlier releases may have further fields. */
const viewParty = ({ name, address, phone, email }: Party) => ({ name, address, phone, email });

const viewLine = ({ id, weightLb, rateUsd, amountUsd, ...row }: BillLineRow): Detail['lines'][number] => ({
  line_id: id,
  ...recordOf(row),
  weight: numberOrNull(weightLb),
  rate: numberOrNull(rateUsd),
  amount: Number(amountUsd),
});

const viewPayment = ({ id, amountUsd, ...row }: PaymentRow): Detail['payments'][number] => ({
  payment_id: id,
  ...recordOf(row),
  amount: Number(amountUsd),
  is_voided: row.voidedAt !== null,
});

type AccountStatement = DataOf<'getCourierStatement'>;

export async function viewStatement({ query, account, movements }: Statement) {
  const { from, to } = query;
  const { movements: total, days_0_30, days_31_60, days_61_90, days_over_90, credit, ...others } = account;
  const { late_0, late_1_30, late_31_60, late_61_90, late_over_90, ...figures } = others;
  const ages = { days_0_30, days_31_60, days_61_90, days_over_90, credit };
  const data: AccountStatement = {
    ...recordOf(figures, ['opening_balance', 'billed', 'paid', 'voided', 'closing_balance']),
    from,
    to,
    movements: await jsonRows(movements, viewMovement),
    ageing: recordOf(ages, ['days_0_30', 'days_31_60', 'days_61_90', 'days_over_90', 'credit']),
    due_ageing: {
      current: Number(late_0),
      days_1_30: Number(late_1_30),
      days_31_60: Number(late_31_60),
      days_61_90: Number(late_61_90),
      days_over_90: Number(late_over_90),
      credit: Number(credit),
    },
  };
  const message = `${countOf(total, 'movement')} from ${from} to ${to}.`;
  return { ...reply(message, data), meta: pageMeta(query, total) };
}

const viewMovement = ({
  day,
  amount_usd,
  balance_usd,
  ...row
}: MovementRow): AccountStatement['movements'][number] => ({
  date: day,
  ...recordOf(row),
  amount: Number(amount_usd),
  balance: Number(balance_usd),
});
