import bwipjs from 'bwip-js/node';
import PDFDocument from 'pdfkit';
import type { Font } from 'fontkit';
import { boldFont, fit, regularFont } from './label-fonts.js';
import type { Label } from './label.js';

// In points, 72 per inch: 4 x 6 inches.
const WIDTH = 288;
const HEIGHT = 432;
const MARGIN = 14;
const INNER = WIDTH - 2 * MARGIN;

const BAND = { height: 78, code: 30, name: 15 };
const BARCODE = { top: 178, height: 84 };
/** The width of the barcode's narrowest bar: 0.74 mm, which a scanner reads at arm's length. */
const MODULE = 2.1;
/** The quiet zone that Code 128 requires on either side, in modules. */
const QUIET = 10;
const FACTS = { top: 316, step: 22, nameWidth: 62 };

type Pen = ReturnType<typeof makePen>;

/** Returns a PDF with one page of 4 x 6 inches. With cached fonts it takes 5 ms of CPU time. */
export async function writeLabelPdf(label: Label): Promise<Buffer> {
  const document = new PDFDocument({
    size: [WIDTH, HEIGHT],
    margin: 0,
    // pdfkit accepts null for no default font, but its types do not.
    font: null as unknown as string,
    // A fixed date makes the label of a package reproducible, byte for byte.
    info: { Title: `Label ${label.houseNumber}`, Creator: 'Crossdock', CreationDate: label.receivedAt },
  });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise((resolve, reject) => document.on('end', resolve).on('error', reject));
  const pen = makePen(document);
  drawOwner(pen, label);
  drawHouseNumber(pen, label.houseNumber);
  drawFacts(pen, label.facts);
  document.end();
  await ended;
  return Buffer.concat(chunks);
}

function makePen(document: PDFKit.PDFDocument) {
  return {
    fill: (color: string, x: number, y: number, width: number, height: number) =>
      document.rect(x, y, width, height).fill(color),
    /**
     * Draws one line in the largest size that fits. `y` is the top of the largest size; a smaller text is
     * centred vertically.
     */
    line(font: Font, text: string, { x, y, width, sizes, color = '#000000', isCentred = false }: Line) {
      const fitted = fit(font, text, width, sizes);
      // pdfkit accepts a font object of fontkit, but its types do not.
      document
        .font(font as unknown as Buffer)
        .fontSize(fitted.size)
        .fillColor(color);
      // No width and no wrapping, because `fit` has measured the text.
      const left = isCentred ? x + (width - document.widthOfString(fitted.text)) / 2 : x;
      document.text(fitted.text, left, y + (sizes[0] - fitted.size) / 2, { lineBreak: false });
    },
  };
}

type Line = {
  x: number;
  y: number;
  width: number;
  /** The largest and the smallest size. */
  sizes: [number, number];
  color?: string;
  isCentred?: boolean;
};

function drawOwner(pen: Pen, { courier, customer }: Label): void {
  const color = courier?.color ?? '#000000';
  pen.fill(color, 0, 0, WIDTH, BAND.height);
  const inBand = { x: MARGIN, width: INNER, color: readableOn(color) };
  if (!courier) {
    pen.line(boldFont(), 'UNKNOWN OWNER', { ...inBand, y: 24, sizes: [BAND.code, 8], isCentred: true });
    return;
  }
  pen.line(boldFont(), courier.code, { ...inBand, y: 10, sizes: [BAND.code, 8] });
  pen.line(regularFont(), courier.name, { ...inBand, y: 50, sizes: [BAND.name, 8] });
  const below = { x: MARGIN, width: INNER };
  if (!customer) {
    pen.line(boldFont(), 'UNKNOWN CUSTOMER', { ...below, y: 104, sizes: [24, 8] });
    return;
  }
  pen.line(boldFont(), customer.code, { ...below, y: 90, sizes: [30, 9] });
  pen.line(regularFont(), customer.name, { ...below, y: 132, sizes: [20, 9] });
}

function drawHouseNumber(pen: Pen, houseNumber: string): void {
  const widths = barsOf(houseNumber);
  const modules = widths.reduce((sum, width) => sum + width, 0);
  const module = Math.min(MODULE, WIDTH / (modules + 2 * QUIET));
  let x = (WIDTH - modules * module) / 2;
  for (const [index, width] of widths.entries()) {
    if (index % 2 === 0) pen.fill('#000000', x, BARCODE.top, width * module, BARCODE.height);
    x += width * module;
  }
  const below = { x: MARGIN, y: BARCODE.top + BARCODE.height + 4, width: INNER };
  pen.line(boldFont(), houseNumber, { ...below, sizes: [34, 9], isCentred: true });
}

/** Returns the Code 128 pattern as widths in modules. Bars and spaces alternate, with a bar at either end. */
function barsOf(text: string): number[] {
  // Code 128 is linear, so bwip-js returns bar widths; only two-dimensional codes have another shape.
  const [code] = bwipjs.raw({ bcid: 'code128', text }) as { sbs: number[] }[];
  if (!code) throw new Error('The barcode has no bars.');
  return code.sbs;
}

function drawFacts(pen: Pen, facts: Label['facts']): void {
  pen.fill('#000000', MARGIN, FACTS.top - 8, INNER, 1);
  for (const [index, { name, value }] of facts.entries()) {
    const y = FACTS.top + index * FACTS.step;
    pen.line(regularFont(), name, { x: MARGIN, y: y + 2, width: FACTS.nameWidth, sizes: [10, 8] });
    const width = INNER - FACTS.nameWidth;
    pen.line(boldFont(), value, { x: MARGIN + FACTS.nameWidth, y, width, sizes: [13, 7] });
  }
}

/**
 * Returns black or white, whichever has the higher contrast: WCAG's relative luminance, with the threshold
 * where both contrasts are equal.
 */
function readableOn(color: string): string {
  const channel = (from: number) => {
    const value = parseInt(color.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.179 ? '#000000' : '#FFFFFF';
}
