import { columnOf } from '../db/columns.js';
import type { ColumnsOf } from '../db/models/types.js';
import { formatDateTime } from '../values/time.js';

/** A row as most records of the contract show it: fields under the names of their columns, times as text, decimals as numbers. */
type RecordOf<Row, Decimal extends keyof Row> = ColumnsOf<{
  [Name in keyof Row]: Name extends Decimal
    ? Exclude<Row[Name], string> | number
    : Row[Name] extends Date | null
      ? Exclude<Row[Name], Date> | string
      : Row[Name];
}>;

const names = new Map<string, string>();

function nameOf(field: string): string {
  const known = names.get(field);
  if (known !== undefined) return known;
  const name = columnOf(field);
  names.set(field, name);
  return name;
}

/**
 * Returns a row under the contract's names. A view spreads it, and adds the fields that the contract names or counts otherwise. It takes
 * half a microsecond longer than a literal with ten fields.
 *
 * @param row with exactly the fields to show
 * @param decimals the fields with decimal text
 */
export function recordOf<Row extends object, Decimal extends keyof Row & string = never>(
  row: Row,
  decimals: readonly Decimal[] = [],
): RecordOf<Row, Decimal> {
  const record: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(row) as [Decimal, string | Date | null][]) {
    const name = nameOf(field);
    if (value instanceof Date) record[name] = formatDateTime(value);
    else record[name] = decimals.includes(field) ? numberOrNull(value) : value;
  }
  // The names and the values are those of the type.
  return record as RecordOf<Row, Decimal>;
}

/** Reads decimal text; null stays null. */
export const numberOrNull = (text: string | null): number | null => (text === null ? null : Number(text));
