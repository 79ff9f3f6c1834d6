import type { BillHeadRow, BillLineRow, PaymentRow } from '../../detail/queries.js';

/** What the thread gets to print: rows as the database has them, their dates as text. */
export type Invoice = {
  bill: Dated<BillHeadRow>;
  /** As JSON, in parts, in the order of the bill: one text is copied to the thread sooner than 80,000 cells. */
  lines: string[];
  payments: Dated<PaymentRow>[];
  /** A PNG. */
  logo: Uint8Array | undefined;
};

export type Line = Dated<BillLineRow>;
export type Payment = Dated<PaymentRow>;

/** A row after JSON. */
type Dated<Row> = {
  [Key in keyof Row]: Row[Key] extends Date | null ? string | Extract<Row[Key], null> : Row[Key];
};
