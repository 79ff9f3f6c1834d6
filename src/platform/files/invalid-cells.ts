import { ApiError, rowError, type FieldError, type FieldProblem } from '../errors/errors.js';

/** A row that cannot be read. */
export const brokenRow = (problem: 'quotes' | 'length'): InvalidCell => ({
  column: 'file',
  problem: [problem === 'length' ? 'row_too_long' : 'quotes'],
});

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
