import type { components } from '../../../generated/contract.js';
import { shown } from './columns.js';
import type { Encoding } from './decode-csv.js';

/** How a file was read, as the responses of uploads state it. */
export type FileReport = Pick<components['schemas']['CustomerImport'], 'file' | 'warnings'>;

export type Warning = FileReport['warnings'][number];

/** Begins a message about a workbook with the sheet that was read. */
export const sheetOf = ({ sheet }: FileReport['file']): string =>
  sheet === undefined ? '' : `Sheet "${sheet}" was read. `;

type SeparatorName = NonNullable<FileReport['file']['separator']>;

const SEPARATOR_NAMES: Record<string, SeparatorName> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'pipe',
};

export const separatorName = (separator: string): SeparatorName => SEPARATOR_NAMES[separator] ?? 'comma';

/** A cell with a letter outside ASCII, which shows whether the encoding was guessed right. */
export type LetterExample = { row: number; text: string };

/** A warning names no more rows. */
export const MAX_NAMED_ROWS = 100;

type Code = Warning['code'];

/** Returns the warning about these rows, or none without rows. */
const warningOf = (code: Code, rows: number[], message: string): Warning[] =>
  rows.length === 0 ? [] : [{ code, message, rows: rows.slice(0, MAX_NAMED_ROWS) }];

export function encodingWarning(encoding: Encoding, example: LetterExample | undefined): Warning[] {
  if (encoding !== 'Windows-1252') return [];
  const shown = example ? ` Row ${example.row} has "${example.text}".` : '';
  const message = `The file is not UTF-8 and was read as Windows-1252.${shown} If letters are wrong, save the file as CSV UTF-8 and upload it again.`;
  return [{ code: 'encoding_guessed', message, rows: example ? [example.row] : [] }];
}

export const titleWarning = (rows: number[]): Warning[] =>
  warningOf('rows_above_header', rows, 'The rows above the header were not read.');

export const roundedWarning = (rows: number[]): Warning[] =>
  warningOf(
    'number_rounded',
    rows,
    'Numbers of more than 15 digits end with zeros, as spreadsheets leave them. Compare them with the originals. Format the column as text before you enter them.',
  );

export function dateWarning(found: { row: number; text: string }[]): Warning[] {
  const [first] = found;
  return warningOf(
    'like_date',
    [...new Set(found.map(({ row }) => row))],
    `Codes look like dates, for example "${first?.text}" in row ${first?.row}. Spreadsheets change codes such as JAN-3 and 1-3 to dates. Compare them with the originals. Format the column as text before you enter them.`,
  );
}

/** Sheets have names of at most 31 characters; other programs write longer ones. */
const MAX_NAMED_SHEETS = 10;

export function sheetsWarning(read: { sheet: string; otherSheets: string[] } | undefined): Warning[] {
  if (!read || read.otherSheets.length === 0) return [];
  const names = shown(read.otherSheets.slice(0, MAX_NAMED_SHEETS));
  const message = `Only the sheet "${shown([read.sheet])}" was read. Other sheets have rows, too: ${names}. Save each in a file of its own.`;
  return [{ code: 'sheets_skipped', message, rows: [] }];
}

/** @param unknown the columns that were read by their position, whose names in the header are unknown */
export const orderWarning = (headerRow: number, unknown: string[], hasNames: boolean): Warning[] =>
  warningOf(
    'columns_in_order',
    unknown.length > 0 ? [headerRow] : [],
    hasNames
      ? `The header has unknown names, so these columns were read by their position: ${unknown.join(', ')}. Check them.`
      : `The header names no known column, so the columns were read in their order. Row ${headerRow} was taken for the header and not stored. If it is a customer, add a header above it.`,
  );

export const shortRowWarning = (rows: number[], minCells: number): Warning[] =>
  warningOf(
    'rows_skipped',
    rows,
    `Rows with fewer than ${minCells} cells were skipped, although they are not blank: ${rows.length}. Complete them and upload the file again.`,
  );

export const likeNumberWarning = (rows: number[]): Warning[] =>
  warningOf(
    'like_tracking_number',
    rows,
    'User codes have the form of a tracking number. A scan of one may be taken for a parcel, and a parcel with this number is received only if staff enter its owner. Use other codes if possible.',
  );

/** @param example describes one of the rows */
export const unlikelyNumberWarning = (rows: number[], example = ''): Warning[] =>
  warningOf('unlikely_number', rows, example);

/** @param example describes one of the rows */
export const leadingZerosWarning = (rows: number[], example = ''): Warning[] =>
  warningOf('leading_zeros', rows, example);
