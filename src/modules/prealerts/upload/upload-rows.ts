import { readUploadedFile, type ReadFile } from '../../../platform/files/csv-upload.js';
import type { InvalidCell } from '../../../platform/files/invalid-cells.js';
import type { Cells } from '../../../platform/files/read-cells.js';
import { newIds } from '../../../platform/values/ids.js';
import { parcelKey } from '../../tracking-numbers/public.js';
import type { NumberedPrealert } from '../submission/batch-queries.js';
import { COLUMNS, type Column } from './columns.js';

export type Upload = ReadFile & {
  /** By key of the tracking number. The first row of a repeated number counts. */
  prealerts: Map<string, NumberedPrealert>;
  /** The rows whose tracking number is in an earlier row. */
  repeatedRows: number[];
};

export const MAX_ROWS = 10_000;

type Rows = Pick<Upload, 'prealerts' | 'repeatedRows'>;

/**
 * Reads and validates a whole file of pre-alerts.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUpload(path: string): Promise<Upload> {
  const ids = newIds(MAX_ROWS);
  const rows: Rows = { prealerts: new Map(), repeatedRows: [] };
  const file = await readUploadedFile(path, {
    columns: COLUMNS,
    maxRows: MAX_ROWS,
    minCells: 1,
    inOrder: false,
    takeRow: (number, cells) => takeRow(rows, ids, number, cells),
  });
  return { ...file, ...rows };
}

/** Adds the row's pre-alert to the upload. Returns what is wrong with the row. */
function takeRow(rows: Rows, ids: string[], number: number, cells: Cells<Column>): InvalidCell[] {
  const { tracking_number: trackingNumber = '', user_code: userCode = '' } = cells;
  const trackingKey = parcelKey(trackingNumber);
  const earlier = rows.prealerts.get(trackingKey);
  if (earlier && earlier.userCode !== userCode) {
    const { number: row, userCode: other } = earlier;
    return [{ column: 'tracking_number', problem: ['other_customer', { row, other }] }];
  }
  if (earlier) {
    rows.repeatedRows.push(number);
    return [];
  }
  rows.prealerts.set(trackingKey, {
    number,
    id: ids[rows.prealerts.size] ?? '',
    userCode,
    trackingNumber,
    trackingKey,
    vendor: cells.vendor || null,
    description: cells.description || null,
    reference: cells.reference || null,
  });
  return [];
}
