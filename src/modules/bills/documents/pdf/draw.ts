import PDFDocument from 'pdfkit';
import { registerFonts, type Fonts } from './fonts.js';
import { numberOf, titleOf, putHead, type Picture } from './head.js';
import type { Invoice, Line } from './invoice.js';
import { cut } from './printable.js';
import { LEFT, makeSheet, PAPER, putRule, putText, RIGHT, STYLES, type Mark, type Sheet } from './sheet.js';
import { putLineTable } from './lines.js';
import { putSummary } from './summary.js';

/**
 * The number of pages for which a font caches laid-out texts: dates, tiers and amounts repeat, tracking
 * numbers do not.
 */
const CACHED_PAGES = 20;

/** Returns the invoice as a PDF. The same invoice gives the same bytes. */
export async function drawInvoice(invoice: Invoice): Promise<Buffer> {
  const doc = new PDFDocument({
    size: [PAPER.width, PAPER.height],
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    info: infoOf(invoice),
  });
  const bytes = collect(doc);
  const fonts = registerFonts(doc);
  // pdfkit has openImage(), but its types do not.
  const logo = invoice.logo && (doc as Pictures).openImage(Buffer.from(invoice.logo));
  const sheet = makeSheet(fonts);
  // The writer serialised exactly such lines.
  const lines = invoice.lines.flatMap((part) => JSON.parse(part) as Line[]);
  putHead(sheet, invoice, logo);
  putSummary(sheet, invoice, lines);
  putLineTable(sheet, invoice, lines);
  for (const [index, marks] of sheet.pages.entries()) {
    doc.addPage();
    if (invoice.bill.status === 'draft') drawWatermark(doc, fonts);
    for (const draw of [...marks, ...footOf(invoice, sheet, index)]) draw(doc);
    if (index % CACHED_PAGES === 0) for (const font of Object.values(fonts)) font.clearCache();
  }
  doc.end();
  return bytes;
}

type Pictures = PDFKit.PDFDocument & { openImage(content: Buffer): Picture };

/** The dates are those of the bill, so that the file does not depend on the time of drawing. */
function infoOf(invoice: Invoice): PDFKit.DocumentInfo {
  const { bill } = invoice;
  const isDraft = bill.status === 'draft';
  return {
    Title: isDraft ? `Draft invoice, ${bill.billTo.name}` : `Invoice ${bill.invoiceNumber}`,
    Author: bill.billFrom.name,
    Subject: `${bill.billTo.name}, ${bill.startDate} to ${bill.endDate}`,
    Creator: 'Crossdock',
    Producer: 'Crossdock',
    CreationDate: new Date(bill.publishedAt ?? bill.createdAt),
  };
}

async function collect(doc: PDFKit.PDFDocument): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // The document is a stream of bytes.
  for await (const chunk of doc) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function footOf(invoice: Invoice, { pages, fonts }: Sheet, index: number): Mark[] {
  const foot: Sheet = { pages: [[]], y: 0, fonts };
  const y = PAPER.height - 34;
  const { name, code } = invoice.bill.billTo;
  putRule(foot, y - 4);
  const title = invoice.bill.status === 'draft' ? titleOf(invoice) : `Invoice ${numberOf(invoice)}`;
  const label = `${title} · ${name} (${code ?? ''})`;
  const shown = cut(label, fonts.regular, STYLES.note.size, RIGHT - LEFT - 90);
  putText(foot, shown, { x: LEFT, y }, STYLES.note);
  putText(foot, `Page ${index + 1} of ${pages.length}`, { x: RIGHT, y, isRight: true }, STYLES.note);
  return foot.pages[0] ?? [];
}

/** Drawn below everything else, across the page. */
function drawWatermark(doc: PDFKit.PDFDocument, { bold }: Fonts): void {
  const size = 150;
  const [x, y] = [PAPER.width / 2, PAPER.height / 2];
  doc.save().rotate(-50, { origin: [x, y] });
  doc.font('bold').fontSize(size).fillColor('#E9ECF0');
  doc.text('DRAFT', x - bold.widthPt('DRAFT', size) / 2, y - size / 2, { lineBreak: false });
  doc.restore();
}
