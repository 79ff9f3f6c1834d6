import { openArchive, type Archive } from './archive.js';
import { MAX_CELLS, MAX_TEXT_BYTES } from './bounds.js';
import { makeCellWriters } from './cell-text.js';
import { findParts, type Sheet, type WorkbookParts } from './parts.js';
import { tooLarge, WorkbookError, type WorkbookProblem } from './problem.js';
import { readSheet, type CellTexts, type SheetCell } from './sheet-rows.js';
import { readStyles } from './styles.js';
import { readSharedTexts } from './texts.js';

/** A sheet as CSV in UTF-8, separated by commas. Empty rows are empty lines, so that rows have the numbers of the sheet. */
export type SheetCsv = {
  sheet: string;
  /** The names of other visible sheets with content. */
  otherSheets: string[];
  csv: Uint8Array;
  /** The number of columns up to the last one with content. Lines end behind their last cell with content. */
  width: number;
  /** The row and the column, from 0, of each cell with a date or a time, in the order of the sheet. */
  dates: Uint32Array;
};

export type ReadWorkbook = { found: SheetCsv } | { problem: WorkbookProblem };

/** Reads the first visible sheet with content of a workbook. */
export async function readWorkbookFile(path: string): Promise<ReadWorkbook> {
  try {
    const archive = await openArchive(path);
    try {
      return { found: await readFirstSheet(archive, await findParts(archive)) };
    } finally {
      archive.close();
    }
  } catch (error) {
    if (error instanceof WorkbookError) return { problem: error.problem };
    throw error;
  }
}

async function readFirstSheet(archive: Archive, parts: WorkbookParts): Promise<SheetCsv> {
  const shared = parts.sharedTexts === undefined ? [] : await readSharedTexts(archive, parts.sharedTexts);
  const formats = parts.styles === undefined ? [] : await readStyles(archive, parts.styles);
  const { is1904, isUncomputed } = parts;
  const texts = { shared, isUncomputed, ...makeCellWriters(formats, is1904) };
  for (const [index, { name, path }] of parts.sheets.entries()) {
    const sheet = makeCsv();
    await readSheet(archive, path, texts, sheet.take);
    if (sheet.isEmpty()) continue;
    const otherSheets = await namesWithContent(archive, texts, parts.sheets.slice(index + 1));
    return { sheet: name, otherSheets, ...sheet.end() };
  }
  throw new WorkbookError('workbook_empty');
}

async function namesWithContent(archive: Archive, texts: CellTexts, sheets: Sheet[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, path } of sheets) {
    await readSheet(archive, path, texts, () => {
      names.push(name);
      return false;
    });
  }
  return names;
}

function makeCsv() {
  const lines: string[] = [];
  const dates: number[] = [];
  const size = { bytes: 0, cells: 0, width: 0, row: 0 };
  return {
    take(row: number, cells: SheetCell[]): boolean {
      const line = '\n'.repeat(row - size.row - (size.row === 0 ? 1 : 0)) + lineOf(cells);
      size.row = row;
      size.cells += cells.length;
      if (size.cells > MAX_CELLS) throw tooLarge('cells');
      size.bytes += Buffer.byteLength(line);
      if (size.bytes > MAX_TEXT_BYTES) throw tooLarge('text');
      size.width = Math.max(size.width, (cells.at(-1)?.column ?? 0) + 1);
      for (const { column, isDate } of cells) if (isDate) dates.push(row, column);
      lines.push(line);
      return true;
    },
    isEmpty: () => lines.length === 0,
    end: () => ({
      csv: new Uint8Array(Buffer.from(`${lines.join('')}\n`)),
      width: size.width,
      dates: Uint32Array.from(dates),
    }),
  };
}

function lineOf(cells: SheetCell[]): string {
  let line = '';
  let next = 0;
  for (const { column, text } of cells) {
    line += ','.repeat(column - next) + (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    next = column;
  }
  return line;
}
