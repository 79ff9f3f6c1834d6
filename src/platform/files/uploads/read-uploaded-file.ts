import { invalidFieldError } from '../../errors/errors.js';
import { columnsOf, countNames, plainNames, shown, unnamedColumns } from '../columns.js';
import { findHeader, type Header, type HeaderFormat, type HeaderRow } from '../header.js';
import { brokenRow, makeInvalidCells, type InvalidCell } from '../invalid-cells.js';
import { isBlankRow, readCells, type Cells } from '../read-cells.js';
import { readCsv, type CsvRow } from '../read-csv.js';
import { HEADER_ROWS, separatorOf } from '../separator.js';
import { makeSuspects } from '../suspect-codes.js';
import {
  encodingWarning,
  orderWarning,
  separatorName,
  sheetsWarning,
  shortRowWarning,
  titleWarning,
  type FileReport,
  type LetterExample,
} from '../upload-report.js';
import { makeSheetCells, type SheetCells } from './sheet-cells.js';
import { openTable, type Table } from './table.js';
import type { SheetCsv } from '../workbook/workbook-csv.js';

/** What an upload takes, and what receives its rows. */
export type UploadFormat<Column extends string> = HeaderFormat<Column> & {
  /** The maximum number of rows below the header, and about that of empty rows. */
  maxRows: number;
  /** Receives every row of valid cells. Returns what is wrong with the row as a whole. */
  takeRow(number: number, cells: Cells<Column>): InvalidCell[];
};

/** An uploaded file, and what reads it if it is a workbook. */
export type TableSource = { path: string; readWorkbook(): Promise<SheetCsv> };

/** How the file was read, and the number of rows below the header that were skipped. */
export type ReadFile = FileReport & {
  skipped: number;
  /** What a workbook has in its sheet: its compressed bytes do not say. */
  carried: { bytes: number; items: number } | undefined;
};

/**
 * Reads and validates a whole uploaded CSV file or workbook.
 * @throws ApiError validation_failed with every invalid cell, or the file, in `errors`; invalid_encoding; overloaded
 */
export async function readUploadedFile<Column extends string>(
  { path, readWorkbook }: TableSource,
  format: UploadFormat<Column>,
): Promise<ReadFile> {
  const opened = await openTable(path, readWorkbook);
  const found = { separator: '' };
  const firstRows: HeaderRow[] = [];
  let table: ReturnType<typeof makeTable<Column>> | undefined;
  const sheetCells = makeSheetCells(opened.sheet);
  const start = () => makeTable(format, { ...opened, sheetCells }, firstRows);
  const guess = {
    countNames: (cells: string[]) => countNames(format.columns, plainNames(format.columns, cells)),
    minCells: format.minCells,
  };
  const file = {
    pieces: opened.pieces,
    encoding: opened.encoding,
    // Some programs write an empty row below each row.
    maxEmptyRows: format.maxRows + HEADER_ROWS,
    separatorOf: (text: string) => (found.separator = opened.sheet ? ',' : separatorOf(text, guess)),
  };
  await readCsv(file, (sent) => {
    const row = sheetCells.pad(sent, table?.readCells);
    if (table) {
      table.take(row);
      return;
    }
    // In the turn of the row: the names of all first rows together would block the event loop.
    const named = { ...row, names: plainNames(format.columns, row.cells) };
    if (firstRows.push(named) === HEADER_ROWS) table = start();
  });
  table ??= start();
  return table.end(separatorName(found.separator));
}

/** Reads the rows below the header, which is among the first rows. */
function makeTable<Column extends string>(
  format: UploadFormat<Column>,
  { encoding, sheet, sheetCells }: Table & { sheetCells: SheetCells },
  firstRows: HeaderRow[],
) {
  const header = findHeader(format, firstRows);
  const invalid = makeInvalidCells();
  const counts = { rows: 0, skipped: 0 };
  const short: number[] = [];
  const suspects = makeSuspects(format.columns);
  let letters: LetterExample | undefined;

  function take(row: CsvRow): void {
    const { number, cells, problem } = row;
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
    const problemsOfCells = [...sheetCells.datesOf(row, format.columns, header.positions), ...read.invalid];
    if (problemsOfCells.length > 0) {
      invalid.add(number, firstOfEach(problemsOfCells));
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
    /** The number of cells of a row that are read. A sheet can have many more columns. */
    readCells: Math.max(header.minCells, ...[...header.positions.values()].map((position) => position + 1)),
    end(separator: ReturnType<typeof separatorName>): ReadFile {
      invalid.assertNone();
      if (counts.rows === counts.skipped) assertEmptyList(format, header, counts.rows, separator);
      const warnings = [
        ...encodingWarning(encoding, letters),
        ...sheetsWarning(sheet),
        ...titleWarning(above.map(({ number }) => number)),
        ...orderWarning(
          header.row.number,
          unnamedColumns(format.columns, header),
          countNames(format.columns, header.row.names) > 0,
        ),
        ...shortRowWarning(short, header.minCells),
        ...suspects.warnings(),
      ];
      const file = {
        ...(sheet
          ? { format: 'xlsx' as const, sheet: shown([sheet.sheet]) }
          : { format: 'csv' as const, encoding, separator }),
        header_row: header.row.number,
        columns: describe(header),
      };
      const carried = sheet && { bytes: sheet.csv.length, items: counts.rows };
      return { skipped: counts.skipped, file, warnings, carried };
    },
  };
}

/** A cell is refused for one reason. */
const firstOfEach = (cells: InvalidCell[]): InvalidCell[] =>
  cells.filter(({ column }, index) => cells.findIndex((each) => each.column === column) === index);

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
