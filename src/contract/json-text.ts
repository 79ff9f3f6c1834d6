import { randomUUID } from 'node:crypto';

const TEXT = Symbol('JSON text');

/**
 * Stands for a value that PostgreSQL has spelt as JSON already: a reply carries the text as it is. For long lists
 * alone; parsing 100,000 rows and spelling them again held the event loop for a third of a second.
 */
export const jsonText = (text: string): unknown => ({ [TEXT]: text });

/** JSON.stringify, but for what jsonText made: in `data` itself, no deeper. */
export function stringifyReply(envelope: Record<string, unknown>): string {
  const { data } = envelope;
  const spelt = Object.entries(isRecord(data) ? data : {}).flatMap(([key, value]) =>
    isRecord(value) && typeof value[TEXT] === 'string'
      ? [{ key, text: value[TEXT], mark: randomUUID() }]
      : [],
  );
  if (spelt.length === 0) return JSON.stringify(envelope);
  const marks = Object.fromEntries(spelt.map(({ key, mark }) => [key, mark]));
  const marked = JSON.stringify({ ...envelope, data: { ...(data as object), ...marks } });
  return spelt.reduce((json, { text, mark }) => {
    const [before = '', after = ''] = json.split(`"${mark}"`);
    return before + text + after;
  }, marked);
}

const isRecord = (value: unknown): value is Record<string | symbol, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
