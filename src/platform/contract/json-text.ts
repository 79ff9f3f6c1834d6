import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';

const TEXT = Symbol('JSON text');

/**
 * Stands for a value that PostgreSQL has spelt as JSON already: a reply carries the text as it is. For long lists
 * alone; parsing 100,000 rows and spelling them again held the event loop for a third of a second.
 */
export const jsonText = (text: string): unknown => ({ [TEXT]: text });

// About two milliseconds of work: others' requests are served in between.
const ROWS_A_TURN = 250;

/** The views of rows, spelt part by part: 10,000 packages at once held the event loop for 80 ms. */
export async function jsonRows<Row, View>(rows: Row[], toView: (row: Row) => View): Promise<View[]> {
  const parts: string[] = [];
  for (let start = 0; start < rows.length; start += ROWS_A_TURN) {
    if (start > 0) await nextTurn();
    const views = rows.slice(start, start + ROWS_A_TURN).map(toView);
    parts.push(JSON.stringify(views).slice(1, -1));
  }
  // The text stands for the list that it spells.
  return jsonText(`[${parts.join(',')}]`) as View[];
}

/** JSON.stringify, but for what jsonText made: as `data` or in it, no deeper. */
export function stringifyReply(envelope: Record<string, unknown>): string {
  const { data } = envelope;
  if (isRecord(data) && typeof data[TEXT] === 'string') {
    const mark = randomUUID();
    return putText(JSON.stringify({ ...envelope, data: mark }), mark, data[TEXT]);
  }
  const spelt = Object.entries(isRecord(data) ? data : {}).flatMap(([key, value]) =>
    isRecord(value) && typeof value[TEXT] === 'string'
      ? [{ key, text: value[TEXT], mark: randomUUID() }]
      : [],
  );
  if (spelt.length === 0) return JSON.stringify(envelope);
  const marks = Object.fromEntries(spelt.map(({ key, mark }) => [key, mark]));
  const marked = JSON.stringify({ ...envelope, data: { ...(data as object), ...marks } });
  return spelt.reduce((json, { text, mark }) => putText(json, mark, text), marked);
}

function putText(json: string, mark: string, text: string): string {
  const [before = '', after = ''] = json.split(`"${mark}"`);
  return before + text + after;
}

const isRecord = (value: unknown): value is Record<string | symbol, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
