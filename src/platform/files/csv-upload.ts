import {
  ApiError,
  invalidFieldError,
  rowError,
  type FieldError,
  type FieldProblem,
} from '../errors/errors.js';
import { readCsv, type CsvRow } from './read-csv.js';

export type InvalidCell = { column: string; problem: FieldProblem };

/** The invalid cells of an uploaded file. */
export type InvalidCells = {
  add(row: number, cells: InvalidCell[]): void;
  /** @throws ApiError validation_failed with the invalid cells, if there are any */
  assertNone(): void;
};

const MAX_ERRORS = 1_000;

export function makeInvalidCells(): InvalidCells {
  const errors: FieldError[] = [];
  let count = 0;
  return {
    add(row, cells) {
      count += cells.length;
      // Only listed errors get a message: a file can have 300,000 invalid cells.
      for (const { column, problem } of cells.slice(0, MAX_ERRORS - errors.length))
        errors.push(rowError(row, column, ...problem));
    },
    assertNone() {
      if (count > 0) throw badCells(count, errors);
    },
  };
}

function badCells(count: number, errors: FieldError[]): ApiError {
  const listed = errors.length;
  return count > listed
    ? new ApiError('validation_failed', { variant: 'many_cells', args: { count, listed }, errors })
    : new ApiError('validation_failed', { variant: 'cells', args: { count }, errors });
}

export type RowReader = {
  /** The maximum number of rows below the header. */
  maxRows: number;
  /** Receives the cells of the first row. */
  takeHeader?: (cells: string[]) => void;
  /** Receives every other row with readable cells. Returns its invalid cells. */
  takeRow(row: CsvRow): InvalidCell[];
};

/**
 * Reads a whole uploaded CSV file.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUploadedRows(
  path: string,
  { maxRows, takeHeader, takeRow }: RowReader,
): Promise<void> {
  const invalid = makeInvalidCells();
  let header: CsvRow | undefined;
  let count = 0;
  await readCsv(path, (row) => {
    if (!header) {
      assertText((header = row));
      if (!row.problem) takeHeader?.(row.cells);
    }
    if (row.problem) {
      invalid.add(row.number, [brokenRow(row.problem)]);
    } else if (row !== header) {
      count += 1;
      invalid.add(row.number, takeRow(row));
    }
    if (count > maxRows) throw invalidFieldError('file', 'too_many_rows', { limit: maxRows });
  });
  if (!header) throw invalidFieldError('file', 'empty');
  invalid.assertNone();
}

const brokenRow = (problem: NonNullable<CsvRow['problem']>): InvalidCell => ({
  column: 'file',
  problem: [problem === 'length' ? 'row_too_long' : 'quotes'],
});

/** Detects other file formats by the first row, which never looks like this in a spreadsheet's CSV. */
function assertText({ cells: [first = ''], cells }: CsvRow): void {
  const isBinary = cells.some((cell) => /[^\P{Cc}\n\t]/u.test(cell));
  if (!isBinary && !/^\s*[{[<]/.test(first)) return;
  throw invalidFieldError('file', 'not_csv');
}
