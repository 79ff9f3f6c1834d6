// Copies of plain objects, for the programs that generate files.

/** Returns the object with the result of `map(key, value)` under each key. */
export const mapEntries = <Value, Result>(
  record: Record<string, Value>,
  map: (key: string, value: Value) => Result,
): Record<string, Result> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(key, value)]));

/** Returns the object with the result of `map(value)` under each key. */
export const mapValues = <Value, Result>(
  record: Record<string, Value>,
  map: (value: Value) => Result,
): Record<string, Result> => mapEntries(record, (_key, value) => map(value));
