/** The fields of a record before or after a change; null if it has none. */
export type Fields = Record<string, unknown> | null;

/** The names of the fields of a change, each once. */
export const namesOf = (before: Fields, after: Fields): string[] => [
  ...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]),
];

/** The value of a field as text. A dash stands for none. */
export const shown = (value: unknown): string =>
  value === undefined || value === null ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
