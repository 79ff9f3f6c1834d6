import { pageMeta } from '../../../platform/contract/page-reply.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { MovementRow } from './queries.js';
import type { Statement } from './statement.js';
import { countOf } from '../../../platform/values/count-of.js';

type CourierStatement = DataOf<'getCourierStatement'>;

export async function viewStatement({
  query,
  account,
  movements,
}: Statement): Promise<ReplyOf<'getCourierStatement'>> {
  const { from, to, page, limit } = query;
  const total = account.movements;
  return {
    statusCode: 200,
    message: `${countOf(total, 'movement')} from ${from} to ${to}.`,
    data: {
      courier_id: account.courier_id,
      courier_name: account.courier_name,
      courier_code: account.courier_code,
      from,
      to,
      opening_balance: Number(account.opening_balance),
      billed: Number(account.billed),
      paid: Number(account.paid),
      voided: Number(account.voided),
      closing_balance: Number(account.closing_balance),
      movements: await jsonRows(movements, viewMovement),
      ageing: {
        days_0_30: Number(account.days_0_30),
        days_31_60: Number(account.days_31_60),
        days_61_90: Number(account.days_61_90),
        days_over_90: Number(account.days_over_90),
        credit: Number(account.credit),
      },
    },
    meta: pageMeta({ page, limit }, total),
  };
}

const viewMovement = (row: MovementRow): CourierStatement['movements'][number] => ({
  date: row.day,
  kind: row.kind,
  bill_id: row.bill_id,
  invoice_number: row.invoice_number,
  payment_id: row.payment_id,
  method: row.method,
  reference: row.reference,
  amount: Number(row.amount_usd),
  balance: Number(row.balance_usd),
  recorded_at: formatDateTime(row.recorded_at),
});
