import { toCsvLine } from '../../../../src/platform/files/csv-cells.js';

const COLUMNS = ['tracking_number', 'user_code', 'vendor', 'description'];

/** The separators of spreadsheets and of lists that people write. */
const SEPARATORS = ['\t', ';', '|', ','];

/**
 * Returns pasted lines as a CSV file with a header: number, user code, vendor and contents. Lines with a number alone belong to `userCode`.
 * Row n of the lines is row n + 1 of the file, so empty lines are kept.
 */
export function csvOfLines(text: string, userCode = ''): string {
  const lines = text.replace(/\s+$/, '').split(/\r?\n/);
  const separator = SEPARATORS.find((each) => lines.some((line) => line.includes(each)));
  return [COLUMNS, ...lines.map((line) => cellsOf(line, separator, userCode))].map(toCsvLine).join('');
}

function cellsOf(line: string, separator: string | undefined, userCode: string): string[] {
  const cells = (separator ? line.split(separator) : [line]).map((cell) => cell.trim());
  // What follows the third separator is the contents, which may have separators too.
  const [trackingNumber = '', code = '', vendor = '', ...contents] = cells;
  const isEmpty = cells.every((cell) => cell === '');
  return isEmpty
    ? ['', '', '', '']
    : [trackingNumber, code || userCode, vendor, contents.join(separator === ',' ? ', ' : ' ')];
}
