import { readUploadedRows, type InvalidCell } from '../../../platform/files/csv-upload.js';
import type { CsvRow } from '../../../platform/files/read-csv.js';
import { validateText } from '../../../platform/values/validate-text.js';

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

const MAX_ROWS = 100_000;

const COLUMNS = ['user_code', 'first_name', 'last_name', 'branch'] as const;
const REQUIRED_COLUMNS = 3;

/**
 * Reads and validates a whole file of customers.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(path: string): Promise<Upload> {
  const upload: Upload = { customers: new Map(), processed: 0, skipped: 0 };
  await readUploadedRows(path, { maxRows: MAX_ROWS, takeRow: (row) => takeRow(upload, row) });
  return upload;
}

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
