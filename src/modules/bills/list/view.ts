import { pageMeta } from '../../../platform/contract/page-reply.js';
import { jsonRows } from '../../../platform/contract/json-text.js';
import type { DataOf, ReplyOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { BillRow } from '../shared/bill-row.js';
import type { BillPage } from './list-bills.js';
import { countOf } from '../../../platform/values/count-of.js';

export async function viewBills({ query, rows, total }: BillPage): Promise<ReplyOf<'listCourierBills'>> {
  return {
    statusCode: 200,
    message: `${countOf(total, 'bill')} found.`,
    count: rows.length,
    data: await jsonRows(rows, viewBill),
    meta: pageMeta(query, total),
  };
}

export const viewBill = (row: BillRow): DataOf<'listCourierBills'>[number] => ({
  bill_id: row.id,
  invoice_number: row.invoiceNumber,
  courier_id: row.courierId,
  courier_name: row.courierName,
  courier_code: row.courierCode,
  service_type: row.serviceType,
  start_date: row.startDate,
  end_date: row.endDate,
  total_packages: row.totalPackages,
  tax_rate: Number(row.taxRate),
  subtotal: Number(row.subtotal),
  tax_amount: Number(row.taxAmount),
  total_amount: Number(row.totalAmount),
  paid_amount: Number(row.paidAmount),
  balance: Number(row.balance),
  status: row.status,
  created_at: formatDateTime(row.createdAt),
  published_at: row.publishedAt && formatDateTime(row.publishedAt),
});
