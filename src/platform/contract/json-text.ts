import { pauseWhenDue } from '../concurrency/pause-when-due.js';

const TEXT = Symbol('JSON text');

/**
 * Wraps JSON text that PostgreSQL produced, to be sent unchanged. Use it for long lists only: parsing and serializing
 * 100,000 rows blocked the event loop for a third of a second.
 */
export const jsonText = (text: string): unknown => ({ [TEXT]: text });

// About 2 ms of work. The event loop can serve other requests between two batches.
const ROWS_PER_TICK = 250;

/** Serializes the views of rows in batches, because serializing 10,000 packages at once blocked the event loop for 80 ms. */
export async function jsonRows<Row, View>(rows: Row[], toView: (row: Row) => View): Promise<View[]> {
  const parts: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_PER_TICK) {
    await pauseWhenDue();
    const views = rows.slice(start, start + ROWS_PER_TICK).map(toView);
    parts.push(JSON.stringify(views).slice(1, -1));
  }
  // stringifyReply writes this text where the array would be.
  return jsonText(`[${parts.join(',')}]`) as View[];
}

/** JSON.stringify with support for jsonText values as `data` or as direct fields of `data`, not deeper. */
export function stringifyReply(envelope: Record<string, unknown>): string {
  const { data } = envelope;
  if (isText(data)) return objectText(envelope);
  const hasTexts = isRecord(data) && Object.values(data).some(isText);
  return hasTexts ? objectText({ ...envelope, data: jsonText(objectText(data)) }) : JSON.stringify(envelope);
}

/** As JSON.stringify, but the values of fields may be texts. */
function objectText(fields: Record<string, unknown>): string {
  const texts = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined
      ? []
      : `${JSON.stringify(key)}:${isText(value) ? value[TEXT] : JSON.stringify(value)}`,
  );
  return `{${texts.join(',')}}`;
}

const isText = (value: unknown): value is { [TEXT]: string } => isRecord(value) && TEXT in value;

const isRecord = (value: unknown): value is Record<string | symbol, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
