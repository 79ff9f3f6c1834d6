import { harmless, type Cell } from '../../../platform/files/csv.js';
import { formatDate } from '../../../platform/values/time.js';
import type { BillHeadRow, BillLineRow } from '../detail/queries.js';

export const HEADINGS = [
  'Invoice Number',
  'Position',
  'Kind',
  'Date Received',
  'House Number',
  'Tracking Number',
  'User Code',
  'Weight LB',
  'Tier',
  'Rate USD',
  'Amount USD',
  'Description',
] as const;

/**
 * Returns the cells of one row, in the order of HEADINGS. A value that does not apply is empty. Numbers are
 * not escaped, even with a minus sign.
 */
export const toCells =
  (bill: BillHeadRow) =>
  (line: BillLineRow): Cell[] => [
    harmless(bill.status === 'draft' ? 'DRAFT' : bill.invoice_number),
    line.position,
    line.kind,
    line.received_at ? formatDate(line.received_at) : '',
    harmless(line.house_number ?? ''),
    harmless(line.tracking_number ?? ''),
    harmless(line.user_code ?? ''),
    line.weight_lb === null ? '' : Number(line.weight_lb),
    harmless(line.tier ?? ''),
    line.rate_usd ?? '',
    line.amount_usd,
    harmless(line.description ?? ''),
  ];
