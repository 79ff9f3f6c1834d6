import type { BillHeadRow, BillLineRow, PaymentRow } from '../../detail/queries.js';

/** The data that the worker thread prints: rows of the database with dates as text. */
export type Invoice = {
  bill: Dated<BillHeadRow>;
  /**
   * JSON texts, in parts, in the order of the bill. Copying a text to the thread is faster than copying
   * 80,000 cells.
   */
  lines: string[];
  payments: Dated<PaymentRow>[];
  /** A PNG. */
  logo: Uint8Array | undefined;
};

export type Line = Dated<BillLineRow>;
export type Payment = Dated<PaymentRow>;

/** A row after JSON serialisation. */
type Dated<Row> = {
  [Key in keyof Row]: Row[Key] extends Date | null ? string | Extract<Row[Key], null> : Row[Key];
};
