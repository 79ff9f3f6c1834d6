import { columnsOf, type ColumnTable, type Positions } from '../columns.js';
import type { InvalidCell } from '../invalid-cells.js';
import type { CsvRow } from '../read-csv.js';
import type { SheetCsv } from '../workbook/workbook-csv.js';

/** Headers are read up to this cell. */
const MAX_WIDTH = 200;

/** What a sheet knows of its rows, and its CSV does not say. */
export type SheetCells = {
  /** Returns the row with the columns of the sheet, as its CSV file would have them: all of them, or as many as are enough. */
  pad(row: CsvRow, enough?: number): CsvRow;
  /** Returns the codes of a row that are dates. To be called for each row, in order. */
  datesOf<Column extends string>(
    row: CsvRow,
    table: ColumnTable<Column>,
    positions: Positions<Column>,
  ): InvalidCell[];
};

/** A spreadsheet made a date of a code, so the code is lost, whatever the date looks like. */
export function makeSheetCells(sheet: SheetCsv | undefined): SheetCells {
  const dates = sheet?.dates ?? new Uint32Array();
  const width = Math.min(MAX_WIDTH, sheet?.width ?? 0);
  let next = 0;

  function dateColumnsOf(row: number): Set<number> {
    const columns = new Set<number>();
    for (; (dates[next] ?? Number.POSITIVE_INFINITY) <= row; next += 2)
      if (dates[next] === row) columns.add(dates[next + 1] ?? 0);
    return columns;
  }
  return {
    pad(row, enough = width) {
      const missing = Math.min(width, enough) - row.cells.length;
      return missing > 0 && !row.problem
        ? { ...row, cells: [...row.cells, ...Array<string>(missing).fill('')] }
        : row;
    },
    datesOf({ number, cells }, table, positions) {
      if (dates.length === 0) return [];
      const found = dateColumnsOf(number);
      return columnsOf(table).flatMap((column): InvalidCell[] => {
        const position = positions.get(column) ?? -1;
        const isCode = table[column].kind === 'code' || table[column].kind === 'scan';
        if (!isCode || !found.has(position)) return [];
        return [{ column, problem: ['date_cell', { text: cells[position] ?? '' }] }];
      });
    },
  };
}
