import { pageMeta } from '../../../platform/contract/page-reply.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { BillDetail } from './detail.js';
import type { BillLineRow, Party, PaymentRow } from './queries.js';
import { viewBill } from '../list/view.js';

type Detail = DataOf<'getCourierBill'>;

export async function viewDetail({
  query,
  bill,
  lines,
  totalLines,
  payments,
}: BillDetail): Promise<ReplyOf<'getCourierBill'>> {
  return {
    statusCode: 200,
    message: `Bill ${bill.invoiceNumber}.`,
    data: {
      ...viewBill(bill),
      remarks: bill.remarks,
      bill_from: viewParty(bill.billFrom),
      bill_to: {
        ...viewParty(bill.billTo),
        code: bill.billTo.code ?? bill.courierCode,
        company_name: bill.billTo.company_name ?? null,
      },
      lines: await jsonRows(lines, viewLine),
      payments: await jsonRows(payments, viewPayment),
    },
    meta: pageMeta(query, totalLines),
  };
}

const viewParty = ({ name, address, phone, email }: Party): Detail['bill_from'] => ({
  name,
  address,
  phone,
  email,
});

const viewLine = (row: BillLineRow): Detail['lines'][number] => ({
  line_id: row.id,
  position: row.position,
  kind: row.kind,
  description: row.description,
  package_id: row.packageId,
  tracking_number: row.trackingNumber,
  house_number: row.houseNumber,
  user_code: row.userCode,
  tier: row.tier,
  received_at: row.receivedAt && formatDateTime(row.receivedAt),
  weight: numberOrNull(row.weightLb),
  rate: numberOrNull(row.rateUsd),
  amount: Number(row.amountUsd),
});

const viewPayment = (row: PaymentRow): Detail['payments'][number] => ({
  payment_id: row.id,
  method: row.method,
  reference: row.reference,
  received_on: row.receivedOn,
  void_reason: row.voidReason,
  amount: Number(row.amountUsd),
  recorded_at: formatDateTime(row.recordedAt),
  is_voided: row.voidedAt !== null,
  voided_at: row.voidedAt && formatDateTime(row.voidedAt),
});

const numberOrNull = (text: string | null) => (text === null ? null : Number(text));
