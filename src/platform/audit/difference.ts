import { columnOf } from '../db/columns.js';

/** Fields under the names of their columns, as the audit trail records them. */
export const pickColumns = <Fields extends object>(
  fields: Fields,
  names: readonly (keyof Fields & string)[],
) => Object.fromEntries(names.map((name) => [columnOf(name), fields[name]]));

/**
 * Returns the fields that differ, with both values under the names of their columns, or undefined if none differs.
 *
 * @param shown replaces values that the audit trail must not contain
 */
export function differenceOf<Fields extends object>(
  before: Fields,
  after: Fields,
  names: readonly (keyof Fields & string)[],
  shown: (fields: Fields) => Fields = (fields) => fields,
) {
  const changed = names.filter((name) => before[name] !== after[name]);
  if (changed.length === 0) return undefined;
  return { before: pickColumns(shown(before), changed), after: pickColumns(shown(after), changed) };
}
