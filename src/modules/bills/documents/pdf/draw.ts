import { finishDocument, openDocument } from '../../../../platform/pdf/document.js';
import { numberOf, titleOf, putHead, type Picture } from './head.js';
import type { Invoice, Line } from './invoice.js';
import { putLineTable } from './lines.js';
import { putSummary } from './summary.js';

/** Returns the invoice as a PDF. The same invoice gives the same bytes. */
export async function drawInvoice(invoice: Invoice): Promise<Buffer> {
  const { bill } = invoice;
  const isDraft = bill.status === 'draft';
  const document = openDocument({
    title: isDraft ? `Draft invoice, ${bill.billTo.name}` : `Invoice ${bill.invoiceNumber}`,
    author: bill.billFrom.name,
    subject: `${bill.billTo.name}, ${bill.startDate} to ${bill.endDate}`,
    // A date of the bill, so that the file does not depend on the time of drawing.
    date: new Date(bill.publishedAt ?? bill.createdAt),
  });
  const { doc, sheet } = document;
  // pdfkit has openImage(), but its types do not.
  const logo = invoice.logo && (doc as Pictures).openImage(Buffer.from(invoice.logo));
  // The writer serialised exactly such lines.
  const lines = invoice.lines.flatMap((part) => JSON.parse(part) as Line[]);
  putHead(sheet, invoice, logo);
  putSummary(sheet, invoice, lines);
  putLineTable(sheet, invoice, lines);
  const title = isDraft ? titleOf(invoice) : `Invoice ${numberOf(invoice)}`;
  return finishDocument(document, {
    foot: `${title} · ${bill.billTo.name} (${bill.billTo.code ?? ''})`,
    isDraft,
  });
}

type Pictures = PDFKit.PDFDocument & { openImage(content: Buffer): Picture };
