import {
  ApiError,
  type FieldError,
  type FieldProblem,
  invalidFieldError,
  rowError,
} from '../../../platform/errors/errors.js';
import { readCsv, type CsvRow } from './csv.js';
import { validateText } from '../shared/validate-text.js';

export type UploadedCustomer = {
  userCode: string;
  firstName: string;
  lastName: string;
  /** Null clears the stored branch, undefined leaves it unchanged. */
  branch: string | null | undefined;
};

export type Upload = {
  /** By user code. The last row of a repeated code counts. */
  customers: Map<string, UploadedCustomer>;
  /** The number of accepted rows, including rows with a repeated user code. */
  processed: number;
  skipped: number;
};

export const MAX_ROWS = 100_000;
const MAX_ERRORS = 1_000;

const COLUMNS = ['user_code', 'first_name', 'last_name', 'branch'] as const;
const REQUIRED_COLUMNS = 3;

/**
 * Reads and validates a whole file of customers.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(path: string): Promise<Upload> {
  const upload: Upload = { customers: new Map(), processed: 0, skipped: 0 };
  const errors: FieldError[] = [];
  let bad = 0;
  let header: CsvRow | undefined;

  await readCsv(path, (row) => {
    if (!header) assertText((header = row));
    const found = row.problem ? [brokenRow(row.problem)] : row === header ? [] : takeRow(upload, row);
    bad += found.length;
    // Only listed errors get a message: a file can have 300,000 invalid cells.
    for (const { column, problem } of found.slice(0, MAX_ERRORS - errors.length))
      errors.push(rowError(row.number, column, ...problem));
    if (upload.processed + upload.skipped > MAX_ROWS)
      throw invalidFieldError('file', 'too_many_rows', { limit: MAX_ROWS });
  });

  if (!header) throw invalidFieldError('file', 'empty');
  if (bad > 0) throw badCells(bad, errors);
  return upload;
}

type InvalidCell = { column: string; problem: FieldProblem };

/** Adds the row's customer to the upload. Returns the invalid cells of the row. */
function takeRow(upload: Upload, { cells }: CsvRow): InvalidCell[] {
  if (cells.length < REQUIRED_COLUMNS) {
    upload.skipped += 1;
    return [];
  }
  upload.processed += 1;
  const values = cells.slice(0, COLUMNS.length).map((cell) => cell.trim());
  const [userCode = '', firstName = '', lastName = '', branch] = values;
  const invalid = COLUMNS.flatMap((column, index) => {
    const problem = validateText(values[index] ?? '', index < REQUIRED_COLUMNS);
    return problem ? { column, problem } : [];
  });
  if (invalid.length === 0)
    upload.customers.set(userCode, {
      userCode,
      firstName,
      lastName,
      branch: branch === '' ? null : branch,
    });
  return invalid;
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

function badCells(count: number, errors: FieldError[]): ApiError {
  const listed = errors.length;
  return count > listed
    ? new ApiError('validation_failed', { variant: 'many_cells', args: { count, listed }, errors })
    : new ApiError('validation_failed', { variant: 'cells', args: { count }, errors });
}
