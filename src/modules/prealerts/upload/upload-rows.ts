import { pauseWhenDue } from '../../../platform/concurrency/pause-when-due.js';
import {
  readUploadedFile,
  type ReadFile,
  type TableSource,
} from '../../../platform/files/uploads/read-uploaded-file.js';
import { makeInvalidCells, type InvalidCell } from '../../../platform/files/invalid-cells.js';
import { unlikelyNumberWarning, type Warning } from '../../../platform/files/upload-report.js';
import { newIds } from '../../../platform/values/ids.js';
import { readScan, warnOfUnlikelyNumber, whyNotOneNumber } from '../../tracking-numbers/public.js';
import type { NumberedPrealert } from '../batches/batch-queries.js';
import { COLUMNS } from './columns.js';

export type Upload = ReadFile & {
  /** By key of the tracking number, which a label and the number inside it share. The first row of a repeated number counts. */
  prealerts: Map<string, NumberedPrealert>;
  /** Those whose tracking number is in an earlier row. */
  repeated: NumberedPrealert[];
};

const MAX_ROWS = 10_000;

type Rows = Pick<Upload, 'prealerts' | 'repeated'>;

/** A row with valid cells, whose tracking number is not read yet. */
type SentRow = Omit<NumberedPrealert, 'id' | 'trackingKey' | 'keys' | 'trackingNumber'>;

/**
 * Reads and validates a whole file of pre-alerts.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(source: TableSource): Promise<Upload> {
  const sent: SentRow[] = [];
  const file = await readUploadedFile(source, {
    columns: COLUMNS,
    maxRows: MAX_ROWS,
    minCells: 1,
    inOrder: false,
    takeRow(number, cells) {
      sent.push({
        number,
        userCode: cells.user_code ?? '',
        sentNumber: cells.tracking_number ?? '',
        vendor: cells.vendor || null,
        description: cells.description || null,
        reference: cells.reference || null,
      });
      return [];
    },
  });
  const rows = await readNumbers(sent);
  return { ...file, ...rows, warnings: [...file.warnings, ...(await warningsOf(rows))] };
}

/** A repeated row can have a second number, which would be lost. */
async function warningsOf({ prealerts, repeated }: Rows): Promise<Warning[]> {
  const all = [...prealerts.values(), ...repeated].sort((a, b) => a.number - b.number);
  const found: { row: number; message: string }[] = [];
  for (const prealert of all) {
    await pauseWhenDue();
    const warning = warnOfUnlikelyNumber(prealert);
    if (warning) found.push({ row: prealert.number, message: warning.message });
  }
  const [first] = found;
  const rows = found.map(({ row }) => row);
  return unlikelyNumberWarning(rows, first && `Row ${first.row}: ${first.message}`);
}

/** Reads the tracking numbers. @throws ApiError validation_failed with every row whose cell is not one number of one customer */
async function readNumbers(sent: SentRow[]): Promise<Rows> {
  const ids = newIds(sent.length);
  const rows: Rows = { prealerts: new Map(), repeated: [] };
  const invalid = makeInvalidCells();
  for (const row of sent) {
    await pauseWhenDue();
    const problems = takeRow(rows, ids, row);
    if (problems.length > 0) invalid.add(row.number, problems);
  }
  invalid.assertNone();
  return rows;
}

/** Adds the row's pre-alert to the upload. Returns what is wrong with the row. */
function takeRow(rows: Rows, ids: string[], row: SentRow): InvalidCell[] {
  const reading = readScan(row.sentNumber);
  const [number, another] = reading.numbers;
  if (!number || another) return [{ column: 'tracking_number', problem: whyNotOneNumber(reading) }];
  const earlier = rows.prealerts.get(number.key);
  if (earlier && earlier.userCode !== row.userCode) {
    const args = { row: earlier.number, other: earlier.userCode };
    return [{ column: 'tracking_number', problem: ['other_customer', args] }];
  }
  const id = ids[rows.prealerts.size] ?? '';
  const { key: trackingKey, keys } = number;
  const prealert = { ...row, id, trackingNumber: number.text, trackingKey, keys };
  if (earlier) rows.repeated.push(prealert);
  else rows.prealerts.set(trackingKey, prealert);
  return [];
}
