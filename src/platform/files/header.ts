import { invalidFieldError, type ApiError } from '../errors/errors.js';
import {
  countNames,
  isHeader,
  minCellsOf,
  readHeader,
  shown,
  type ColumnTable,
  type NamedCells,
  type Positions,
} from './columns.js';
import { brokenRow, makeInvalidCells } from './invalid-cells.js';
import type { CsvRow } from './read-csv.js';
import { separatorInLine } from './separator.js';

export type HeaderFormat<Column extends string> = {
  columns: ColumnTable<Column>;
  /** Rows with fewer cells are skipped, unless they have all that the header needs. */
  minCells: number;
  /** Whether the columns are in the order of the table where the header does not name them. */
  inOrder: boolean;
};

export type HeaderRow = CsvRow & NamedCells;

export type Header<Column extends string> = {
  row: HeaderRow;
  positions: Positions<Column>;
  /** Whether the row names every required column. */
  isNamed: boolean;
  /** Rows with fewer cells are skipped. */
  minCells: number;
};

/**
 * Finds the header among the first rows of a file: the row that names every required column, else the first one.
 * @throws ApiError validation_failed
 */
export function findHeader<Column extends string>(
  format: HeaderFormat<Column>,
  rows: HeaderRow[],
): Header<Column> {
  const [top] = rows;
  if (!top) throw invalidFieldError('file', 'empty');
  assertText(top);
  const hasSeparatorLine = top.number === 1 && separatorInLine(top.cells.join(';')) !== undefined;
  const candidates = hasSeparatorLine ? rows.slice(1) : rows;
  const named = candidates.find(({ problem, names }) => !problem && isHeader(format.columns, names));
  const row = named ?? bestOf(format, candidates);
  if (!row) throw invalidFieldError('file', 'empty');
  if (row.problem) {
    const invalid = makeInvalidCells();
    invalid.add(row.number, [brokenRow(row.problem)]);
    invalid.assertNone();
  }
  const positions = readHeader(format.columns, row, format.inOrder);
  if (!named) assertAmple(format, row, candidates);
  const { columns, minCells } = format;
  return {
    row,
    positions,
    isNamed: named !== undefined,
    minCells: named ? minCellsOf(columns, positions, minCells) : minCells,
  };
}

/** A row that names at least one column tells the caller more than a title does. */
function bestOf<Column extends string>(
  { columns, inOrder }: HeaderFormat<Column>,
  rows: HeaderRow[],
): HeaderRow | undefined {
  const [first] = rows;
  if (inOrder || first?.problem) return first;
  return rows.find(({ names }) => countNames(columns, names) > 0) ?? first;
}

/** The first row is a header whatever its content, but not if it is a title above the table: the header would be read as a row. */
function assertAmple<Column extends string>(
  { columns, minCells }: HeaderFormat<Column>,
  { cells }: CsvRow,
  rows: CsvRow[],
): void {
  const isTitle = cells.filter((cell) => cell.trim() !== '').length < minCells;
  const hasTable = rows.some((row) => row.cells.length >= minCells);
  if (isTitle && hasTable) throw noHeader(columns, cells);
}

const noHeader = <Column extends string>(columns: ColumnTable<Column>, cells: string[]): ApiError =>
  invalidFieldError('file', 'no_header', { header: shown(cells), columns: Object.keys(columns).join(', ') });

/** Detects other file formats by the first row, which never looks like this in a spreadsheet's CSV. */
function assertText({ cells: [first = ''], cells }: CsvRow): void {
  const isBinary = cells.some((cell) => /[^\P{Cc}\n\t]/u.test(cell));
  if (isBinary || /^\s*[{[<]/.test(first)) throw invalidFieldError('file', 'not_csv');
}
