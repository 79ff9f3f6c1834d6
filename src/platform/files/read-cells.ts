import { damageOf, dateDamageOf } from '../values/damaged-numbers.js';
import { isBlank } from '../values/invisible.js';
import { readField, type TextProblem } from '../values/validate-text.js';
import { columnsOf, type ColumnRules, type ColumnTable, type Positions } from './columns.js';
import type { InvalidCell } from './invalid-cells.js';

/** The cells of a row by column; undefined where the row has no such cell. */
export type Cells<Column extends string> = Record<Column, string | undefined>;

/** Reads the cells of a row by the rules of their columns. */
export function readCells<Column extends string>(
  table: ColumnTable<Column>,
  positions: Positions<Column>,
  cells: string[],
): { values: Cells<Column>; invalid: InvalidCell[] } {
  const invalid: InvalidCell[] = [];
  const values: Partial<Cells<Column>> = {};
  for (const column of columnsOf(table)) {
    const rules = table[column];
    const position = positions.get(column);
    const sent = position === undefined ? undefined : cells[position];
    values[column] = undefined;
    // A required column without a position is replaced by another one.
    if (sent === undefined && (position === undefined || !rules.isRequired)) continue;
    const { text, problem } = readCell(sent ?? '', rules);
    if (problem) invalid.push({ column, problem });
    values[column] = text;
  }
  // The loop has set each column.
  return { values: values as Cells<Column>, invalid };
}

function readCell(sent: string, rules: ColumnRules): { text: string; problem?: TextProblem } {
  const read = readField(sent, rules);
  const problem = read.problem ?? damageIn(read.text, rules);
  return problem ? { ...read, problem } : read;
}

/** Only a file can have dates instead of codes, and error values instead of names. */
function damageIn(text: string, { kind, isRequired }: ColumnRules): TextProblem | undefined {
  if (kind === 'code' || kind === 'scan') return dateDamageOf(text);
  const damage = isRequired ? damageOf(text) : undefined;
  return damage?.[0] === 'formula_error' ? damage : undefined;
}

/** U+001A ends the files of some old programs. */
export const isBlankRow = (cells: string[]): boolean =>
  cells.every((cell) => cell === '' || isBlank(cell.replaceAll('\u001a', '')));
