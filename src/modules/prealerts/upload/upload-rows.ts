import { makePauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import { invalidFieldError } from '../../../platform/errors/errors.js';
import { makeInvalidCells, readUploadedRows, type InvalidCell } from '../../../platform/files/csv-upload.js';
import type { CsvRow } from '../../../platform/files/read-csv.js';
import { newIds } from '../../../platform/values/ids.js';
import { validateText } from '../../../platform/values/validate-text.js';
import { readScan, whyNotOneNumber } from '../../tracking-numbers/public.js';
import type { NumberedPrealert } from '../submission/batch-queries.js';

export type Upload = {
  /** By tracking number. The first row of a repeated number counts. */
  prealerts: Map<string, NumberedPrealert>;
  /** The rows whose tracking number is in an earlier row. */
  repeatedRows: number[];
  skipped: number;
};

export const MAX_ROWS = 10_000;

type Column = 'tracking_number' | 'user_code' | 'vendor' | 'description' | 'reference';

// The maximum lengths are those of the schema PrealertSubmission.
const COLUMNS = {
  tracking_number: {
    maxChars: 255,
    isRequired: true,
    names: ['trackingnumber', 'tracking', 'trackingno', 'trackingid'],
  },
  user_code: {
    maxChars: 100,
    isRequired: true,
    names: ['usercode', 'code', 'customercode', 'account', 'accountnumber', 'mailbox', 'mailboxnumber'],
  },
  vendor: {
    maxChars: 255,
    isRequired: false,
    names: ['vendor', 'shipper', 'shop', 'store', 'merchant', 'supplier'],
  },
  description: {
    maxChars: 2_000,
    isRequired: false,
    names: ['description', 'contents', 'content', 'item', 'items'],
  },
  reference: {
    maxChars: 255,
    isRequired: false,
    names: ['reference', 'order', 'ordernumber', 'orderno', 'orderid'],
  },
} satisfies Record<Column, { maxChars: number; isRequired: boolean; names: string[] }>;

// Object.keys() returns the keys of COLUMNS.
const COLUMN_NAMES = Object.keys(COLUMNS) as Column[];

/**
 * Reads and validates a whole file of pre-alerts.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(path: string): Promise<Upload> {
  const ids = newIds(MAX_ROWS);
  const upload: Upload = { prealerts: new Map(), repeatedRows: [], skipped: 0 };
  const rows: SentRow[] = [];
  let positions: Positions = new Map();
  await readUploadedRows(path, {
    maxRows: MAX_ROWS,
    takeHeader(cells) {
      positions = readHeader(cells);
    },
    takeRow: (row) => takeRow(upload, positions, rows, row),
  });
  await readNumbers(upload, ids, rows);
  return upload;
}

/** A row with valid cells, whose tracking number is not read yet. */
type SentRow = Omit<NumberedPrealert, 'id' | 'trackingKey'>;

/** Reads the tracking numbers. @throws ApiError validation_failed with every cell that is not one number */
async function readNumbers(upload: Upload, ids: string[], rows: SentRow[]): Promise<void> {
  const pauseWhenDue = makePauseWhenDue();
  const invalid = makeInvalidCells();
  for (const row of rows) {
    await pauseWhenDue();
    const reading = readScan(row.trackingNumber);
    const [number, another] = reading.numbers;
    if (!number || another) {
      invalid.add(row.number, [{ column: 'tracking_number', problem: whyNotOneNumber(reading) }]);
    } else if (upload.prealerts.has(number.text)) {
      upload.repeatedRows.push(row.number);
    } else {
      const id = ids[upload.prealerts.size] ?? '';
      upload.prealerts.set(number.text, { ...row, id, trackingNumber: number.text, trackingKey: number.key });
    }
  }
  invalid.assertNone();
}

/** The position of each column that the file has. */
type Positions = Map<Column, number>;

function readHeader(cells: string[]): Positions {
  const names = cells.map((cell) => cell.toLowerCase().replace(/[\s_-]/g, ''));
  const positions: Positions = new Map();
  for (const column of COLUMN_NAMES) {
    const { names: accepted, isRequired } = COLUMNS[column];
    const found = names.flatMap((name, position) => (accepted.includes(name) ? position : []));
    if (found.length > 1) throw invalidFieldError('file', 'column_twice', { column });
    if (found[0] !== undefined) positions.set(column, found[0]);
    else if (isRequired) throw invalidFieldError('file', 'missing_column', { column });
  }
  return positions;
}

/** Takes a row whose cells are valid. Returns the invalid cells of another one. */
function takeRow(upload: Upload, positions: Positions, rows: SentRow[], row: CsvRow): InvalidCell[] {
  if (row.cells.every((cell) => cell.trim() === '')) {
    upload.skipped += 1;
    return [];
  }
  const textOf = (column: Column) => (row.cells[positions.get(column) ?? -1] ?? '').trim();
  const invalid = COLUMN_NAMES.flatMap((column) => {
    const { isRequired, maxChars } = COLUMNS[column];
    // The reader of scans judges the control characters of a number.
    const text = column === 'tracking_number' ? textOf(column).replace(/\p{Cc}/gu, ' ') : textOf(column);
    const problem = validateText(text, isRequired, maxChars);
    return problem ? { column, problem } : [];
  });
  if (invalid.length > 0) return invalid;
  rows.push({
    number: row.number,
    userCode: textOf('user_code'),
    trackingNumber: textOf('tracking_number'),
    vendor: textOf('vendor') || null,
    description: textOf('description') || null,
    reference: textOf('reference') || null,
  });
  return [];
}
