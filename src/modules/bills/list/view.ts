import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { BillPage } from './list-bills.js';
import type { BillRow } from './queries.js';

export function viewBills({ query, rows, total }: BillPage): ReplyOf<'loadCourierBills'> {
  return {
    statusCode: 200,
    message: total === 1 ? '1 bill found.' : `${total} bills found.`,
    count: rows.length,
    data: rows.map(viewBill),
    meta: {
      current_page: query.page,
      per_page: query.limit,
      total_records: total,
      total_pages: Math.ceil(total / query.limit),
    },
  };
}

export const viewBill = (row: BillRow): DataOf<'loadCourierBills'>[number] => ({
  bill_id: row.id,
  invoice_number: row.invoice_number,
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  courier_code: row.courier_code,
  service_type: row.service_type,
  start_date: row.start_date,
  end_date: row.end_date,
  total_packages: row.total_packages,
  tax_rate: Number(row.tax_rate),
  subtotal: Number(row.subtotal),
  tax_amount: Number(row.tax_amount),
  total_amount: Number(row.total_amount),
  paid_amount: Number(row.paid_amount),
  balance: Number(row.balance),
  status: row.status,
  created_at: formatDateTime(row.created_at),
  published_at: row.published_at && formatDateTime(row.published_at),
});
