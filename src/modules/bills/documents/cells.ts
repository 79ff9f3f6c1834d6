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
    harmless(bill.status === 'draft' ? 'DRAFT' : bill.invoiceNumber),
    line.position,
    line.kind,
    line.receivedAt ? formatDate(line.receivedAt) : '',
    harmless(line.houseNumber ?? ''),
    harmless(line.trackingNumber ?? ''),
    harmless(line.userCode ?? ''),
    line.weightLb === null ? '' : Number(line.weightLb),
    harmless(line.tier ?? ''),
    line.rateUsd ?? '',
    line.amountUsd,
    harmless(line.description ?? ''),
  ];
