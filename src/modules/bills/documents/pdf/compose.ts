import type { Invoice, Line } from './invoice.js';
import { putHead, type Size } from './head.js';
import type { Fonts } from './fonts.js';
import { putLineTable } from './lines.js';
import { makeSheet, type Sheet } from './sheet.js';
import { putSummary } from './summary.js';

/** Lays out an invoice: parties and totals on the first page, then every line. */
export function compose(invoice: Invoice, logoSize: Size | undefined, fonts: Fonts): Sheet {
  // The writer serialised exactly such lines.
  const lines = invoice.lines.flatMap((part) => JSON.parse(part) as Line[]);
  const sheet = makeSheet(fonts);
  putHead(sheet, invoice, logoSize);
  putSummary(sheet, invoice, lines);
  putLineTable(sheet, lines);
  return sheet;
}
