import type { Bill, DecimalText } from '../../../platform/db/models/types.js';

/** The maximum of a bill's columns, numeric(12, 2). */
export const MAX_USD = '9999999999.99';

export type TotalsRow = DecimalText<Pick<Bill, 'subtotal' | 'taxAmount' | 'totalAmount'>>;

/** The totals in an audit entry. */
export const totalsAsColumns = ({ subtotal, taxAmount, totalAmount }: TotalsRow) => ({
  subtotal,
  tax_amount: taxAmount,
  total_amount: totalAmount,
});
