import {
  fontOf,
  INK,
  LEFT,
  lineHeight,
  PAGE_HEIGHT,
  put,
  putRule,
  putText,
  RIGHT,
  spaceLeft,
  STYLES,
  startPage,
  type Sheet,
  type Style,
} from './sheet.js';
import { wrapCut } from './printable.js';

export type Column = { title: string; width: number; isRight?: boolean };

/**
 * A cell of a row, starting at its column. A text may span the columns after it. What does not fit on `maxLines` lines is cut: a code of
 * 100 characters that the font does not have would be longer than a page, in each row.
 */
export type Cell = {
  column: number;
  text: string;
  span?: number;
  style?: Style;
  isStruck?: boolean;
  maxLines?: number;
};
export type Row = Cell[];

const GAP = 8;
const PADDING = 2.2;
const LEAST_SCALE = 0.85;
const CELL_HEIGHT = lineHeight(STYLES.cell);

/**
 * Draws rows with the headings repeated on every page. A row is split only if it is longer than a page.
 * @param columns together with their gaps as wide as the page
 */
export function putTable(sheet: Sheet, columns: Column[], rows: Iterable<Row>): void {
  const edges = edgesOf(columns);
  const begin = () => putHeadings(sheet, columns, edges);
  if (spaceLeft(sheet) < 4 * CELL_HEIGHT) startPage(sheet, begin);
  else begin();
  for (const row of rows) {
    const cells = row.map((cell) => layOut(sheet, cell, edges));
    const count = Math.max(...cells.map(({ lines }) => lines.length));
    const height = count * CELL_HEIGHT + 2 * PADDING;
    if (height > spaceLeft(sheet) && height < PAGE_HEIGHT - 3 * CELL_HEIGHT) startPage(sheet, begin);
    sheet.y += PADDING;
    for (let index = 0; index < count; index += 1) {
      if (spaceLeft(sheet) < CELL_HEIGHT + PADDING) startPage(sheet, begin);
      for (const cell of cells) putCellLine(sheet, cell, index);
      sheet.y += CELL_HEIGHT;
    }
    sheet.y += PADDING;
    putRule(sheet, sheet.y);
  }
}

type Edge = { left: number; right: number; isRight: boolean };

function edgesOf(columns: Column[]): Edge[] {
  let left = LEFT;
  return columns.map(({ width, isRight = false }) => {
    const edge = { left, right: left + width, isRight };
    left += width + GAP;
    return edge;
  });
}

function putHeadings(sheet: Sheet, columns: Column[], edges: Edge[]): void {
  const height = CELL_HEIGHT + 2 * PADDING + 1;
  const top = sheet.y;
  put(sheet, (doc) => doc.rect(LEFT, top, RIGHT - LEFT, height).fill(INK.band));
  for (const [index, { title }] of columns.entries()) {
    const edge = edges[index];
    if (!edge) continue;
    const x = edge.isRight ? edge.right : edge.left;
    putText(sheet, title, { x, y: sheet.y + PADDING + 0.5, isRight: edge.isRight }, STYLES.heading);
  }
  sheet.y += height;
}

type LaidOut = {
  lines: string[];
  x: number;
  width: number;
  isRight: boolean;
  style: Style;
  isStruck: boolean;
};

function layOut(
  sheet: Sheet,
  { column, text, span = 1, style = STYLES.cell, isStruck = false, maxLines = Infinity }: Cell,
  edges: Edge[],
): LaidOut {
  const { left = LEFT, right = RIGHT, isRight = false } = edges[column] ?? {};
  const width = (edges[column + span - 1]?.right ?? right) - left;
  const font = fontOf(sheet, style);
  // Figures are never wrapped. A text that nearly fits is set smaller, so that it can be copied in one piece.
  const isWhole = isRight || font.widthPt(text, style.size * LEAST_SCALE) <= width;
  const lines = isWhole ? [text] : wrapCut(text, { font, sizePt: style.size, widthPt: width, maxLines });
  return { lines, x: isRight ? right : left, width, isRight, style, isStruck };
}

function putCellLine(
  sheet: Sheet,
  { lines, x, width, isRight, style, isStruck }: LaidOut,
  index: number,
): void {
  const text = lines[index];
  if (text === undefined) return;
  putText(sheet, text, { x, y: sheet.y, isRight, maxWidth: width }, style);
  if (!isStruck) return;
  const length = Math.min(width, fontOf(sheet, style).widthPt(text, style.size));
  putRule(sheet, sheet.y + style.size * 0.62, isRight ? x - length : x, length, INK.quiet, 0.6);
}
