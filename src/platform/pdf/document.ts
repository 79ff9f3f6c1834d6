import PDFDocument from 'pdfkit';
import { registerFonts, type Fonts } from './fonts.js';
import { cut } from './printable.js';
import { LEFT, makeSheet, PAPER, putRule, putText, RIGHT, STYLES, type Mark, type Sheet } from './sheet.js';

/**
 * The number of pages for which a font caches laid-out texts: dates, tiers and amounts repeat, tracking
 * numbers do not.
 */
const CACHED_PAGES = 20;

/** A document that is begun: its content is placed on the sheet, and drawn by `finishDocument`. */
export type OpenDocument = { doc: PDFKit.PDFDocument; sheet: Sheet; bytes: Promise<Buffer> };

type Info = { title: string; author: string; subject: string; date: Date };

/** Begins a document. The same information and the same content give the same bytes. */
export function openDocument({ title, author, subject, date }: Info): OpenDocument {
  const doc = new PDFDocument({
    size: [PAPER.width, PAPER.height],
    margin: 0,
    autoFirstPage: false,
    pdfVersion: '1.7',
    lang: 'en',
    displayTitle: true,
    info: {
      Title: title,
      Author: author,
      Subject: subject,
      Creator: 'Crossdock',
      Producer: 'Crossdock',
      CreationDate: date,
    },
  });
  const bytes = collect(doc);
  return { doc, bytes, sheet: makeSheet(registerFonts(doc)) };
}

async function collect(doc: PDFKit.PDFDocument): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // The document is a stream of bytes.
  for await (const chunk of doc) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Draws the pages of the sheet, and returns the file.
 * @param options.foot what the foot of each page repeats, before the number of the page. It may end in an ellipsis
 * @param options.isDraft whether each page has DRAFT across it
 */
export async function finishDocument(
  { doc, sheet, bytes }: OpenDocument,
  { foot, isDraft }: { foot: string; isDraft: boolean },
): Promise<Buffer> {
  const { fonts } = sheet;
  for (const [index, marks] of sheet.pages.entries()) {
    doc.addPage();
    if (isDraft) drawWatermark(doc, fonts);
    for (const draw of [...marks, ...footOf(foot, sheet, index)]) draw(doc);
    if (index % CACHED_PAGES === 0) for (const font of Object.values(fonts)) font.clearCache();
  }
  doc.end();
  return bytes;
}

function footOf(text: string, { pages, fonts }: Sheet, index: number): Mark[] {
  const foot: Sheet = { pages: [[]], y: 0, fonts };
  const y = PAPER.height - 34;
  putRule(foot, y - 4);
  const shown = cut(text, fonts.regular, STYLES.note.size, RIGHT - LEFT - 90);
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
