import { invalidFieldError } from '../errors/errors.js';
import type { TextRules } from '../values/validate-text.js';

/** What a column of an upload takes, and the names that its header may have, spelled by `plainName`. */
export type ColumnRules = TextRules & {
  names: string[];
  /** The columns that this one replaces, if the header names it and not all of them. It is never read by its position. */
  replaces?: string[];
  /** Those of its names that replace only what the header does not name: `name` beside `first_name` does not replace it. */
  partial?: string[];
};

export type ColumnTable<Column extends string> = Record<Column, ColumnRules>;

/** The position of each column that the file has. */
export type Positions<Column extends string> = Map<Column, number>;

/** The names of the column with a customer's code, in English and Spanish. */
export const CUSTOMER_CODE_NAMES = [
  'usercode',
  'code',
  'customercode',
  'account',
  'accountnumber',
  'mailbox',
  'mailboxnumber',
  'codigo',
  'codigodecliente',
  'casillero',
  'numerodecasillero',
  'cuenta',
  'numerodecuenta',
];

/** Each letter of a name may have an accent and a sign or space behind it. */
const MAX_CHARS_PER_LETTER = 3;

/**
 * Returns a header's name without accents, capitals, spaces and signs: `Nº de Guía` is `nodeguia`. A cell that is longer than `maxChars`,
 * also when its characters are normalised, has none: some of them become 18.
 */
function plainName(cell: string, maxChars: number): string {
  const text = cell.trim();
  if (text.length > maxChars) return '';
  const letters = text.normalize('NFKD');
  return letters.length > maxChars ? '' : letters.toLowerCase().replace(/[^\p{L}\p{Nd}]/gu, '');
}

/** Returns the columns that are read by their position, because the header has another name there. */
export function unnamedColumns<Column extends string>(
  table: ColumnTable<Column>,
  { row: { cells, names }, positions }: { row: NamedCells; positions: Positions<Column> },
): Column[] {
  return [...positions].flatMap(([column, position]) =>
    cells[position] === undefined || table[column].names.includes(names[position] ?? '') ? [] : [column],
  );
}

/** The cells of a row, and what `plainNames` returns of them. */
export type NamedCells = { cells: string[]; names: string[] };

/** Rows can have 60,000 cells. */
const MAX_HEADER_CELLS = 200;

/** Returns the names that the first 200 cells of a row can have in a header, to be computed once per row. A cell that is no name has ''. */
export function plainNames<Column extends string>(table: ColumnTable<Column>, cells: string[]): string[] {
  const known = columnsOf(table).flatMap((column) => table[column].names);
  const longest = Math.max(...[...known, ...OTHER_NAMES].map(({ length }) => length));
  const maxChars = longest * MAX_CHARS_PER_LETTER;
  return cells.slice(0, MAX_HEADER_CELLS).map((cell) => plainName(cell, maxChars));
}

/** Returns a function that returns whether a row names a column. */
function naming<Column extends string>(table: ColumnTable<Column>, plain: string[]) {
  const names = new Set(plain);
  return (column: Column): boolean => table[column].names.some((name) => names.has(name));
}

/** Returns how many columns a row names. */
export const countNames = <Column extends string>(table: ColumnTable<Column>, names: string[]): number =>
  columnsOf(table).filter(naming(table, names)).length;

/** Returns whether a row names all columns that a file must have. */
export function isHeader<Column extends string>(table: ColumnTable<Column>, names: string[]): boolean {
  const isNamed = naming(table, names);
  const replaced = new Set(
    columnsOf(table).flatMap((column) => (isNamed(column) ? (table[column].replaces ?? []) : [])),
  );
  return columnsOf(table)
    .filter((column) => table[column].isRequired)
    .every((column) => isNamed(column) || replaced.has(column));
}

/**
 * Returns the least number of cells of a row that is read: up to the last column that a row must have. Never more than `minCells`,
 * because longer rows are not skipped.
 */
export function minCellsOf<Column extends string>(
  table: ColumnTable<Column>,
  positions: Positions<Column>,
  minCells: number,
): number {
  const needed = [...positions].flatMap(([column, position]) =>
    table[column].isRequired || table[column].replaces ? position + 1 : [],
  );
  return Math.min(minCells, Math.max(1, ...needed));
}

/** Names of columns that lists of customers have and uploads do not read. They are never read by their position. */
const OTHER_NAMES = new Set([
  'email',
  'emailaddress',
  'mail',
  'correo',
  'correoelectronico',
  'phone',
  'phonenumber',
  'telephone',
  'mobile',
  'telefono',
  'celular',
  'movil',
  'whatsapp',
  'status',
  'active',
  'isactive',
  'estado',
  'activo',
  'address',
  'direccion',
  'city',
  'ciudad',
  'country',
  'pais',
  'company',
  'empresa',
  'id',
  'cedula',
  'date',
  'fecha',
  'notes',
  'notas',
  'total',
  'balance',
  'saldo',
]);

/**
 * Returns the positions by the names of a header.
 *
 * @param inOrder whether columns without a name are read by their position in the table. The names that are there must then be at
 * the same positions, which decide between two columns with names of one meaning, and the others must not be those of other columns.
 * @throws ApiError validation_failed when a column is missing or there twice
 */
export function readHeader<Column extends string>(
  table: ColumnTable<Column>,
  { cells, names }: NamedCells,
  inOrder: boolean,
): Positions<Column> {
  const columns = readableColumns(table, names);
  const found = columns.map((column) =>
    names.flatMap((name, position) => (table[column].names.includes(name) ? position : [])),
  );
  const isOrdered = found.every((places, index) =>
    places.length === 0 ? !OTHER_NAMES.has(names[index] ?? '') : places.includes(index),
  );
  const isReplaced = columns.some((column) => table[column].replaces);
  if (inOrder && isOrdered && !isReplaced) return new Map(columns.map((column, index) => [column, index]));
  const positions: Positions<Column> = new Map();
  for (const [index, column] of columns.entries()) {
    const [position, another] = found[index] ?? [];
    if (another !== undefined) throw invalidFieldError('file', 'column_twice', { column });
    if (position !== undefined) positions.set(column, position);
    else if (table[column].isRequired) throw missingColumn(table, cells, column);
  }
  return positions;
}

/**
 * Returns the columns to look for: without those that a named one replaces, and without those that replace others which are all named, or
 * that the header does not name.
 */
function readableColumns<Column extends string>(table: ColumnTable<Column>, names: string[]): Column[] {
  const columns = columnsOf(table);
  const isNamed = (column: string) =>
    columns.some((each) => each === column && table[each].names.some((name) => names.includes(name)));
  // The first column identifies a record. A header that does not name it is read in order.
  const hasKey = columns[0] !== undefined && isNamed(columns[0]);
  const isUsed = (column: Column) => {
    const { replaces } = table[column];
    return replaces === undefined || (hasKey && isNamed(column) && !replaces.every(isNamed));
  };
  const used = columns.filter(isUsed);
  const isWhole = ({ names: own, partial = [] }: ColumnRules) =>
    own.some((name) => names.includes(name) && !partial.includes(name));
  const replaced = new Set(
    used.flatMap((column) =>
      (table[column].replaces ?? []).filter((part) => isWhole(table[column]) || !isNamed(part)),
    ),
  );
  return used.filter((column) => !replaced.has(column));
}

function missingColumn<Column extends string>(table: ColumnTable<Column>, cells: string[], column: Column) {
  return invalidFieldError('file', 'missing_column', {
    column,
    names: table[column].names.slice(0, 4).join(', '),
    header: shown(cells),
  });
}

const MAX_SHOWN_CHARS = 120;
const MAX_SHOWN_CELLS = 60;

/** Returns the cells of a row for a message. */
export function shown(cells: string[]): string {
  const text = cells
    .slice(0, MAX_SHOWN_CELLS)
    .map((cell) => cell.replace(/[\p{Cc}\p{Cf}]/gu, ' ').trim())
    .join(' | ')
    .toWellFormed();
  const isCut = text.length > MAX_SHOWN_CHARS || cells.length > MAX_SHOWN_CELLS;
  return isCut ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()}…` : text;
}

// Object.keys() returns the keys of the table.
export const columnsOf = <Column extends string>(table: ColumnTable<Column>): Column[] =>
  Object.keys(table) as Column[];
