import { invalidFieldError } from '../errors/errors.js';
import { columnsOf, countNames, shown, unnamedColumns } from './columns.js';
import { encodingOf, type Encoding } from './decode-csv.js';
import { findHeader, type Header, type HeaderFormat } from './header.js';
import { brokenRow, makeInvalidCells, type InvalidCell } from './invalid-cells.js';
import { isBlankRow, readCells, type Cells } from './read-cells.js';
import { readCsv, type CsvRow } from './read-csv.js';
import { HEADER_ROWS, separatorOf } from './separator.js';
import { makeSuspects } from './suspect-codes.js';
import {
  encodingWarning,
  orderWarning,
  separatorName,
  shortRowWarning,
  titleWarning,
  type FileReport,
  type LetterExample,
} from './upload-report.js';

/** What an upload takes, and what receives its rows. */
export type UploadFormat<Column extends string> = HeaderFormat<Column> & {
  /** The maximum number of rows below the header, and about that of empty rows. */
  maxRows: number;
  /** Receives every row of valid cells. Returns what is wrong with the row as a whole. */
  takeRow(number: number, cells: Cells<Column>): InvalidCell[];
};

/** How the file was read, and the number of rows below the header that were skipped. */
export type ReadFile = FileReport & { skipped: number };

/**
 * Reads and validates a whole uploaded CSV file.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding
 */
export async function readUploadedFile<Column extends string>(
  path: string,
  format: UploadFormat<Column>,
): Promise<ReadFile> {
  const encoding = await encodingOf(path);
  const found = { separator: '' };
  const firstRows: CsvRow[] = [];
  let table: ReturnType<typeof makeTable<Column>> | undefined;
  const start = () => makeTable(format, encoding, firstRows);
  const guess = {
    countNames: (cells: string[]) => countNames(format.columns, cells),
    minCells: format.minCells,
  };
  const file = {
    path,
    encoding,
    // Some programs write an empty row below each row.
    maxEmptyRows: format.maxRows + HEADER_ROWS,
    separatorOf: (text: string) => (found.separator = separatorOf(text, guess)),
  };
  await readCsv(file, (row) => {
    if (table) table.take(row);
    else if (firstRows.push(row) === HEADER_ROWS) table = start();
  });
  table ??= start();
  return table.end(separatorName(found.separator));
}

/** Reads the rows below the header, which is among the first rows. */
function makeTable<Column extends string>(
  format: UploadFormat<Column>,
  encoding: Encoding,
  firstRows: CsvRow[],
) {
  const header = findHeader(format, firstRows);
  const invalid = makeInvalidCells();
  const counts = { rows: 0, skipped: 0 };
  const short: number[] = [];
  const suspects = makeSuspects(format.columns);
  let letters: LetterExample | undefined;

  function take({ number, cells, problem }: CsvRow): void {
    if (problem) {
      invalid.add(number, [brokenRow(problem)]);
      return;
    }
    counts.rows += 1;
    if (counts.rows > format.maxRows)
      throw invalidFieldError('file', 'too_many_rows', { limit: format.maxRows });
    const isBlank = isBlankRow(cells);
    if (isBlank || cells.length < header.minCells) {
      counts.skipped += 1;
      if (!isBlank) short.push(number);
      return;
    }
    const read = readCells(format.columns, header.positions, cells);
    if (read.invalid.length > 0) {
      invalid.add(number, read.invalid);
      return;
    }
    if (encoding === 'Windows-1252') letters ??= lettersIn(number, cells);
    suspects.note(number, read.values);
    const problems = format.takeRow(number, read.values);
    if (problems.length > 0) invalid.add(number, problems);
  }

  const above = firstRows.filter(({ number }) => number < header.row.number);
  for (const row of firstRows) if (row.number > header.row.number) take(row);
  return {
    take,
    end(separator: FileReport['file']['separator']): ReadFile {
      invalid.assertNone();
      if (counts.rows === counts.skipped) assertEmptyList(format, header, counts.rows, separator);
      const warnings = [
        ...encodingWarning(encoding, letters),
        ...titleWarning(above.map(({ number }) => number)),
        ...orderWarning(
          header.row.number,
          unnamedColumns(format.columns, header),
          countNames(format.columns, header.row.cells) > 0,
        ),
        ...shortRowWarning(short, header.minCells),
        ...suspects.warnings(),
      ];
      const file = { encoding, separator, header_row: header.row.number, columns: describe(header) };
      return { skipped: counts.skipped, file, warnings };
    },
  };
}

/** A header alone is a list without rows. Otherwise a file of which no row is read is a mistake. */
function assertEmptyList<Column extends string>(
  { columns }: UploadFormat<Column>,
  { row, isNamed, minCells }: Header<Column>,
  rows: number,
  separator: string,
): void {
  if (rows === 0 && isNamed) return;
  throw invalidFieldError('file', 'nothing_read', {
    separator,
    cells: minCells,
    columns: columnsOf(columns).join(', '),
    header: shown(row.cells),
  });
}

const describe = <Column extends string>({ row, positions }: Header<Column>) =>
  [...positions].flatMap(([column, position]) =>
    position < row.cells.length
      ? [{ column, header: shown([row.cells[position] ?? '']), position: position + 1 }]
      : [],
  );

function lettersIn(row: number, cells: string[]): LetterExample | undefined {
  const cell = cells.find((each) => /[^ -~]/.test(each));
  return cell === undefined ? undefined : { row, text: shown([cell]) };
}
