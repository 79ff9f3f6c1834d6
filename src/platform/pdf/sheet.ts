import type { Font, FontName, Fonts } from './fonts.js';
import { printable, wrap } from './printable.js';

/** US Letter, the usual format in Miami and the Caribbean, in points of 1/72 inch. */
export const PAPER = { width: 612, height: 792 };
const MARGIN = { side: 40, top: 40, bottom: 46 };
export const LEFT = MARGIN.side;
export const RIGHT = PAPER.width - MARGIN.side;
const BOTTOM = PAPER.height - MARGIN.bottom;

export const INK = { text: '#1B2430', quiet: '#5B6675', rule: '#C9D0D9', band: '#EEF1F5', strong: '#123A5E' };

export type Style = { font: FontName; size: number; color: string };
export const STYLES = {
  body: { font: 'regular', size: 8.5, color: INK.text },
  quiet: { font: 'regular', size: 8.5, color: INK.quiet },
  bold: { font: 'bold', size: 8.5, color: INK.text },
  cell: { font: 'regular', size: 7.5, color: INK.text },
  strongCell: { font: 'bold', size: 7.5, color: INK.text },
  note: { font: 'regular', size: 7.5, color: INK.quiet },
  heading: { font: 'bold', size: 7.5, color: INK.strong },
  name: { font: 'bold', size: 13, color: INK.text },
  title: { font: 'bold', size: 22, color: INK.strong },
  due: { font: 'bold', size: 11, color: INK.strong },
} as const satisfies Record<string, Style>;

/** Draws a text, a line or a picture on the current page of a document. */
export type Mark = (doc: PDFKit.PDFDocument) => void;

/**
 * The content of the pages, computed before anything is drawn, because the first page states the number of
 * pages.
 */
export type Sheet = {
  pages: Mark[][];
  /** The next free position, from the top of the last page. */
  y: number;
  fonts: Fonts;
};

export const makeSheet = (fonts: Fonts): Sheet => ({ pages: [[]], y: MARGIN.top, fonts });

export function put(sheet: Sheet, mark: Mark): void {
  sheet.pages.at(-1)?.push(mark);
}

export const spaceLeft = (sheet: Sheet): number => BOTTOM - sheet.y;
export const PAGE_HEIGHT = BOTTOM - MARGIN.top;

/** Continues on a new page, below its header. */
export function startPage(sheet: Sheet, begin: () => void = () => undefined): void {
  sheet.pages.push([]);
  sheet.y = MARGIN.top;
  begin();
}

export const lineHeight = ({ size }: Style): number => size * 1.35;

export const fontOf = (sheet: Sheet, { font }: Style): Font => sheet.fonts[font];

/**
 * Adds one line that starts or ends at `x`. A text wider than `maxWidth` is set smaller, because an amount
 * must not wrap.
 */
export function putText(
  sheet: Sheet,
  text: string,
  position: { x: number; y: number; isRight?: boolean; maxWidth?: number },
  style: Style,
): void {
  const font = fontOf(sheet, style);
  const shown = printable(text, font);
  const width = font.widthPt(shown, style.size);
  const scale = Math.min(1, (position.maxWidth ?? width) / (width || 1));
  const size = style.size * scale;
  const x = position.isRight ? position.x - width * scale : position.x;
  const y = position.y + (style.size - size);
  put(sheet, (doc) => {
    doc.font(style.font).fontSize(size).fillColor(style.color);
    doc.text(shown, x, y, { lineBreak: false });
  });
}

/** Adds as many lines as needed. Returns the position of their end. */
export function putLines(
  sheet: Sheet,
  text: string,
  { x, y, width }: { x: number; y: number; width: number },
  style: Style,
): number {
  const lines = wrap(text, fontOf(sheet, style), style.size, width);
  lines.forEach((line, index) => putText(sheet, line, { x, y: y + index * lineHeight(style) }, style));
  return y + lines.length * lineHeight(style);
}

export function putRule(
  sheet: Sheet,
  y: number,
  x = LEFT,
  width = RIGHT - LEFT,
  color = INK.rule,
  thickness = 0.5,
): void {
  put(sheet, (doc) => {
    doc.moveTo(x, y).lineTo(x + width, y);
    doc.lineWidth(thickness).strokeColor(color).stroke();
  });
}
