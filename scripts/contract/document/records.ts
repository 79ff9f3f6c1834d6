// Copies of plain objects, for the programs that generate files.

/** Returns the object with the result of `map(key, value)` under each key. */
export const mapEntries = (record, map) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(key, value)]));

/** Returns the object with the result of `map(value)` under each key. */
export const mapValues = (record, map) => mapEntries(record, (_key, value) => map(value));
