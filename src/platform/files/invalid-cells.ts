import { ApiError, rowError, type FieldError, type FieldProblem } from '../errors/errors.js';

/** A row that cannot be read. */
export const brokenRow = (problem: 'quotes' | 'length'): InvalidCell => ({
  column: 'file',
  problem: [problem === 'length' ? 'row_too_long' : 'quotes'],
});

export type InvalidCell = { column: string; problem: FieldProblem };

const MAX_ERRORS = 1_000;

export function makeInvalidCells() {
  const errors: FieldError[] = [];
  let count = 0;
  return {
    add(row: number, cells: InvalidCell[]): void {
      count += cells.length;
      // Only listed errors get a message: a file can have 300,000 invalid cells.
      for (const { column, problem } of cells.slice(0, MAX_ERRORS - errors.length))
        errors.push(rowError(row, column, ...problem));
    },
    /** @throws ApiError validation_failed with the invalid cells, if there are any */
    assertNone(): void {
      const listed = errors.length;
      if (count > listed)
        throw new ApiError('validation_failed', { variant: 'many_cells', args: { count, listed }, errors });
      if (count > 0) throw new ApiError('validation_failed', { variant: 'cells', args: { count }, errors });
    },
  };
}
