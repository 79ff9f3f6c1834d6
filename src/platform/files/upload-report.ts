import type { components } from '../../../generated/contract.js';
import type { Encoding } from './decode-csv.js';

/** How a file was read, as the responses of uploads state it. */
export type FileReport = Pick<components['schemas']['CustomerImport'], 'file' | 'warnings'>;

export type Warning = FileReport['warnings'][number];

const SEPARATOR_NAMES: Record<string, FileReport['file']['separator']> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

export const separatorName = (separator: string) => SEPARATOR_NAMES[separator] ?? 'comma';

/** A cell with a letter outside ASCII, which shows whether the encoding was guessed right. */
export type LetterExample = { row: number; text: string };

/** A warning names no more rows. */
export const MAX_NAMED_ROWS = 100;

export function encodingWarning(encoding: Encoding, example: LetterExample | undefined): Warning[] {
  if (encoding !== 'Windows-1252') return [];
  const shown = example ? ` Row ${example.row} has "${example.text}".` : '';
  return [
    {
      code: 'encoding_guessed',
      message: `The file is not UTF-8 and was read as Windows-1252.${shown} If letters are wrong, save the file as CSV UTF-8 and upload it again.`,
      rows: example ? [example.row] : [],
    },
  ];
}

export function titleWarning(rows: number[]): Warning[] {
  if (rows.length === 0) return [];
  return [
    { code: 'rows_above_header', message: 'The rows above the header were not read.', rows: firstOf(rows) },
  ];
}

export function roundedWarning(rows: number[]): Warning[] {
  if (rows.length === 0) return [];
  return [
    {
      code: 'number_rounded',
      message:
        'Numbers of more than 15 digits end with zeros, as spreadsheets leave them. Compare them with the originals. Format the column as text before you enter them.',
      rows: firstOf(rows),
    },
  ];
}

export function dateWarning(found: { row: number; text: string }[]): Warning[] {
  const [first] = found;
  if (!first) return [];
  return [
    {
      code: 'like_date',
      message: `Codes look like dates, for example "${first.text}" in row ${first.row}. Spreadsheets change codes such as JAN-3 and 1-3 to dates. Compare them with the originals. Format the column as text before you enter them.`,
      rows: firstOf([...new Set(found.map(({ row }) => row))]),
    },
  ];
}

/** @param unknown the columns that were read by their position, whose names in the header are unknown */
export function orderWarning(headerRow: number, unknown: string[], hasNames: boolean): Warning[] {
  if (unknown.length === 0) return [];
  return [
    {
      code: 'columns_in_order',
      message: hasNames
        ? `The header has unknown names, so these columns were read by their position: ${unknown.join(', ')}. Check them.`
        : `The header names no known column, so the columns were read in their order. Row ${headerRow} was taken for the header and not stored. If it is a customer, add a header above it.`,
      rows: [headerRow],
    },
  ];
}

export function shortRowWarning(rows: number[], minCells: number): Warning[] {
  if (rows.length === 0) return [];
  return [
    {
      code: 'rows_skipped',
      message: `Rows with fewer than ${minCells} cells were skipped, although they are not blank: ${rows.length}. Complete them and upload the file again.`,
      rows: firstOf(rows),
    },
  ];
}

export function likeNumberWarning(rows: number[]): Warning[] {
  if (rows.length === 0) return [];
  return [
    {
      code: 'like_tracking_number',
      message:
        'User codes have the form of a tracking number. A scan of one may be taken for a parcel, and a parcel with this number is received only if staff enter its owner. Use other codes if possible.',
      rows: firstOf(rows),
    },
  ];
}

export function unlikelyNumberWarning(rows: number[], example: string | undefined): Warning[] {
  return example === undefined ? [] : [{ code: 'unlikely_number', message: example, rows: firstOf(rows) }];
}

/** @param example describes one of the rows */
export function leadingZerosWarning(rows: number[], example: string | undefined): Warning[] {
  return example === undefined ? [] : [{ code: 'leading_zeros', message: example, rows: firstOf(rows) }];
}

const firstOf = (rows: number[]) => rows.slice(0, MAX_NAMED_ROWS);
