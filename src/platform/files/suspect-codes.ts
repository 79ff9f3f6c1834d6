import { isLikeDate, roundingOf } from '../values/damaged-numbers.js';
import { columnsOf, type ColumnTable } from './columns.js';
import type { Cells } from './read-cells.js';
import { dateWarning, roundedWarning, type Warning } from './upload-report.js';

/** Collects the rows with codes that a spreadsheet seems to have changed, although they are acceptable. */
export function makeSuspects<Column extends string>(columns: ColumnTable<Column>) {
  const rounding = makeRounding();
  const dates: { row: number; text: string }[] = [];
  const codes = columnsOf(columns).filter((column) => ['code', 'scan'].includes(columns[column].kind));
  return {
    note(row: number, cells: Cells<Column>): void {
      for (const column of codes) {
        const text = cells[column] ?? '';
        rounding.note(row, text);
        // An optional reference may be a date.
        if (columns[column].isRequired && isLikeDate(text)) dates.push({ row, text });
      }
    },
    warnings: (): Warning[] => [...roundedWarning(rounding.rows()), ...dateWarning(dates)],
  };
}

function makeRounding() {
  const certain = new Set<number>();
  const possible = new Set<number>();
  let whole = 0;
  return {
    note(row: number, text: string): void {
      const rounding = roundingOf(text);
      if (rounding === 'certain') certain.add(row);
      if (rounding === 'possible') possible.add(row);
      if (rounding === 'none') whole += 1;
    },
    /** One number of 16 to 18 digits that ends so is chance; most of the file's are not. */
    rows(): number[] {
      const isDamaged = certain.size > 0 || (possible.size > 1 && possible.size > whole);
      return [...new Set([...certain, ...(isDamaged ? possible : [])])].sort((a, b) => a - b);
    },
  };
}
