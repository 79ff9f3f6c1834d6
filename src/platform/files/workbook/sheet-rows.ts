import type { Archive } from './archive.js';
import { MAX_COLUMNS, MAX_ROW, MAX_TEXT_BYTES } from './bounds.js';
import { isoCell, type CellText, type CellWriters } from './cell-text.js';
import { damaged, tooLarge, WorkbookError } from './problem.js';
import { assertFitsCell, joined, makeRichText, unescapeText } from './texts.js';
import { isTrue, readXml, type Element } from './xml.js';

/** A cell that is not blank. `column` is 0 for A. */
export type SheetCell = CellText & { column: number };

/** Rows are passed in order. @returns false to end the reading */
export type TakeRow = (row: number, cells: SheetCell[]) => boolean;

export type CellTexts = CellWriters & {
  shared: string[];
  /** Whether the results of formulas are no results. */
  isUncomputed: boolean;
};

type Cell = { column: number; type: string; style: number; hasFormula: boolean };

/** Passes the rows of a sheet that have cells with content. @throws WorkbookError */
export async function readSheet(
  archive: Archive,
  path: string,
  texts: CellTexts,
  take: TakeRow,
): Promise<void> {
  const at = { row: 0, column: -1, chars: 0, isInData: false, isDone: false };
  let cells: SheetCell[] = [];
  let cell: Cell | undefined;
  let value: string | undefined;
  const inline = makeRichText();
  let isInline = false;

  function openCell(element: Element): void {
    at.column = nextOf(columnOf(element.value('r')), at.column, MAX_COLUMNS - 1);
    const type = element.value('t') ?? 'n';
    cell = { column: at.column, type, style: Number(element.value('s') ?? 0), hasFormula: false };
    value = undefined;
    inline.start();
  }
  function closeCell({ column, type, style, hasFormula }: Cell): void {
    const raw = type === 'inlineStr' ? inline.end() : value;
    // The result of a formula can be an empty text, whose type is str.
    const isMissing = (raw ?? '') === '' && type !== 'str';
    if (hasFormula && (texts.isUncomputed || isMissing)) throw new WorkbookError('workbook_formulas');
    if (raw === undefined || raw === '') return;
    const written = writeCell(texts, type, style, raw);
    assertFitsCell(written.text);
    if (written.text === '') return;
    // Half a surrogate pair, which an escape can name. UTF-8 has no such character.
    if (!written.text.isWellFormed())
      throw new WorkbookError('workbook_text', { cell: `${lettersOf(column)}${at.row}` });
    // Before the line of the row is made: one shared text in each cell would be longer than a text can be.
    at.chars += written.text.length;
    if (at.chars > MAX_TEXT_BYTES) throw tooLarge('text');
    cells.push({ ...written, column });
  }
  let isValue = false;
  await readXml(archive, path, {
    open(element) {
      const { name } = element;
      if (name === 'sheetData') at.isInData = true;
      if (!at.isInData) return;
      if (name === 'row') {
        at.row = nextOf(rowOf(element.value('r')), at.row, MAX_ROW);
        at.column = -1;
        at.chars = 0;
        cells = [];
      } else if (name === 'c') openCell(element);
      else if (name === 'f' && cell) cell.hasFormula = true;
      else if (name === 'v') {
        isValue = true;
        value = '';
      } else if (name === 'is') isInline = true;
      if (isInline) inline.open(name);
    },
    text(part) {
      if (isValue) value = joined(value ?? '', part);
      else if (isInline) inline.text(part);
    },
    close(name) {
      if (name === 'sheetData') at.isInData = false;
      if (isInline) inline.close(name);
      if (name === 'v') isValue = false;
      else if (name === 'is') isInline = false;
      else if (name === 'c' && cell) {
        closeCell(cell);
        cell = undefined;
      } else if (name === 'row' && cells.length > 0) {
        at.isDone ||= !take(at.row, cells);
        cells = [];
      }
    },
    isDone: () => at.isDone,
  });
}

/** Rows and cells are in order. Some programs leave their references out: then each follows the one before. */
function nextOf(sent: number | undefined, last: number, max: number): number {
  const next = sent ?? last + 1;
  if (!(next > last && next <= max)) throw damaged();
  return next;
}

const rowOf = (reference: string | undefined): number | undefined =>
  reference === undefined ? undefined : Number(/^\d{1,7}$/.exec(reference)?.[0]);

/** Returns 27 for AB12. */
function columnOf(reference: string | undefined): number | undefined {
  if (reference === undefined) return undefined;
  const letters = /^([A-Z]{1,3})\d{1,7}$/.exec(reference)?.[1] ?? '';
  let column = 0;
  for (const letter of letters) column = column * 26 + letter.charCodeAt(0) - 64;
  return letters === '' ? Number.NaN : column - 1;
}

/** Returns AB for 27. */
function lettersOf(column: number): string {
  let letters = '';
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26))
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  return letters;
}

function writeCell(
  { shared, writeNumber, writeText }: CellTexts,
  type: string,
  style: number,
  raw: string,
): CellText {
  switch (type) {
    case 's': {
      const text = shared[Number(raw)];
      if (text === undefined) throw damaged();
      return { text: writeText(text, style) };
    }
    case 'b':
      return { text: isTrue(raw) ? 'TRUE' : 'FALSE' };
    case 'd':
      return isoCell(raw);
    case 'n':
      return writeNumber(raw.trim(), style);
    case 'str':
      return { text: writeText(unescapeText(raw), style) };
    case 'inlineStr':
      return { text: writeText(raw, style) };
    // Error values such as #N/A.
    default:
      return { text: raw };
  }
}
