import type { Invoice, Line } from './invoice.js';
import { putHead, type Size } from './head.js';
import type { Fonts } from './fonts.js';
import { putLineTable } from './lines.js';
import { makeSheet, type Sheet } from './sheet.js';
import { putSummary } from './summary.js';

/** An invoice on its pages: who and how much on the first, then every line. */
export function compose(invoice: Invoice, logoSize: Size | undefined, fonts: Fonts): Sheet {
  // as: the rows that were written so
  const lines = invoice.lines.flatMap((part) => JSON.parse(part) as Line[]);
  const sheet = makeSheet(fonts);
  putHead(sheet, invoice, logoSize);
  putSummary(sheet, invoice, lines);
  putLineTable(sheet, lines);
  return sheet;
}
