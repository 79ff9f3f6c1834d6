import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

const TEXT = Symbol('JSON text');

/**
 * Wraps JSON text that PostgreSQL produced, to be sent unchanged. Use it for long lists only: parsing and serializing
 * 100,000 rows blocked the event loop for a third of a second.
 */
export const jsonText = (text: string): unknown => ({ [TEXT]: text });

// About 2 ms of work. The event loop serves other requests between two batches.
const ROWS_PER_TICK = 250;

/** Serializes the views of rows in batches, because serializing 10,000 packages at once blocked the event loop for 80 ms. */
export async function jsonRows<Row, View>(rows: Row[], toView: (row: Row) => View): Promise<View[]> {
  const parts: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_TICK) {
    if (start > 0) await nextTurn();
    const views = rows.slice(start, start + ROWS_PER_TICK).map(toView);
    parts.push(JSON.stringify(views).slice(1, -1));
  }
  // stringifyReply writes this text where the array would be.
  return jsonText(`[${parts.join(',')}]`) as View[];
}

/** JSON.stringify with support for jsonText values as `data` or as direct fields of `data`, not deeper. */
export function stringifyReply(envelope: Record<string, unknown>): string {
  const { data } = envelope;
  if (isRecord(data) && typeof data[TEXT] === 'string') {
    const placeholder = randomUUID();
    return replacePlaceholder(JSON.stringify({ ...envelope, data: placeholder }), placeholder, data[TEXT]);
  }
  const wrapped = Object.entries(isRecord(data) ? data : {}).flatMap(([key, value]) =>
    isRecord(value) && typeof value[TEXT] === 'string'
      ? [{ key, text: value[TEXT], placeholder: randomUUID() }]
      : [],
  );
  if (wrapped.length === 0) return JSON.stringify(envelope);
  const placeholders = Object.fromEntries(wrapped.map(({ key, placeholder }) => [key, placeholder]));
  const withPlaceholders = JSON.stringify({ ...envelope, data: { ...(data as object), ...placeholders } });
  return wrapped.reduce(
    (json, { text, placeholder }) => replacePlaceholder(json, placeholder, text),
    withPlaceholders,
  );
}

function replacePlaceholder(json: string, placeholder: string, text: string): string {
  const [before = '', after = ''] = json.split(`"${placeholder}"`);
  return before + text + after;
}

const isRecord = (value: unknown): value is Record<string | symbol, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
