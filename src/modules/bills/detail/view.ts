import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { BillDetail } from './detail.js';
import type { BillLineRow, Party, PaymentRow } from './queries.js';
import { viewBill } from '../list/view.js';

type Detail = DataOf<'getCourierBill'>;

export function viewDetail({
  query,
  bill,
  lines,
  totalLines,
  payments,
}: BillDetail): ReplyOf<'getCourierBill'> {
  return {
    statusCode: 200,
    message: `Bill ${bill.invoice_number}.`,
    data: {
      ...viewBill(bill),
      remarks: bill.remarks,
      bill_from: viewParty(bill.bill_from),
      bill_to: {
        ...viewParty(bill.bill_to),
        code: bill.bill_to.code ?? bill.courier_code,
        company_name: bill.bill_to.company_name ?? null,
      },
      lines: lines.map(viewLine),
      payments: payments.map(viewPayment),
    },
    meta: {
      current_page: query.page,
      per_page: query.limit,
      total_records: totalLines,
      total_pages: Math.ceil(totalLines / query.limit),
    },
  };
}

const viewParty = ({ name, address, phone, email }: Party): Detail['bill_from'] => ({
  name,
  address,
  phone,
  email,
});

const viewLine = ({
  id,
  received_at,
  weight_lb,
  rate_usd,
  amount_usd,
  ...row
}: BillLineRow): Detail['lines'][number] => ({
  line_id: id,
  ...row,
  received_at: received_at && formatDateTime(received_at),
  weight: numberOrNull(weight_lb),
  rate: numberOrNull(rate_usd),
  amount: Number(amount_usd),
});

const viewPayment = ({
  id,
  amount_usd,
  recorded_at,
  voided_at,
  ...row
}: PaymentRow): Detail['payments'][number] => ({
  payment_id: id,
  ...row,
  amount: Number(amount_usd),
  recorded_at: formatDateTime(recorded_at),
  is_voided: voided_at !== null,
  voided_at: voided_at && formatDateTime(voided_at),
});

const numberOrNull = (text: string | null) => (text === null ? null : Number(text));
