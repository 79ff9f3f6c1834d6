import { randomUUID } from 'node:crypto';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { bodyShapes, operationOf, type Body, type BodyShape } from '../service/contract.js';

/** A body that costs its parser as much as possible. */
export type WorstBody = { name: string; contentType: string; bytes: Buffer };

const JSON_TYPE = 'application/json';

/**
 * Returns the worst JSON bodies of each kind for an operation, each at its maximum size.
 *
 * @param isWanted whether a field of this schema is inflated, in a body of the given maximum size
 * @param isFirstOfLimit whether to return the bodies that are costly for every operation with this maximum size
 */
export function worstJsonBodies(
  id: OperationId,
  isWanted: (schema: Schema, size: string) => boolean,
  isFirstOfLimit: (limit: number) => boolean,
): WorstBody[] {
  const { mediaTypes, maxBodyBytes: limit } = operationOf(id);
  if (!(mediaTypes as readonly string[]).includes(JSON_TYPE) || limit === null) return [];
  const shapes = bodyShapes().filter((shape) => shape.id === id);
  const ofAny = isFirstOfLimit(limit) ? anyBodies(limit) : [];
  return [...ofAny, ...shapes.flatMap((shape) => ofShape(shape, limit, isWanted))].map(([name, text]) => ({
    name,
    contentType: JSON_TYPE,
    bytes: typeof text === 'string' ? Buffer.from(text) : text,
  }));
}

/** Repeats `unit` between the two ends as often as it fits. */
export function filled(start: string, unit: string, end: string, limit: number): string {
  const room = limit - Buffer.byteLength(start) - Buffer.byteLength(end);
  return start + unit.repeat(Math.max(0, Math.floor(room / Buffer.byteLength(unit)))) + end;
}

type Named = [name: string, text: string | Buffer];

/** Returns bodies that are costly for every operation. */
function anyBodies(limit: number): Named[] {
  const fill = (start: string, unit: string, end: string) => filled(start, unit, end, limit);
  return [
    ['a list of zeros', fill('[', '0,', '0]')],
    ['a list of zeros in a field', fill('{"x":[', '0,', '0]}')],
    ['empty lists', fill('[', '[],', '[]]')],
    ['objects', fill('[', '{"a":0},', '{}]')],
    ['short texts', fill('["', 'x","', '"]')],
    ['an invalid text after short ones', fill('["', 'x","', '\\u0000"]')],
    ['bytes that are not UTF-8 after short texts', Buffer.from(fill('["', 'x","', '\xff"]'), 'latin1')],
    ['nested lists', '['.repeat(limit / 2) + ']'.repeat(limit / 2)],
    ['nested objects', fill('', '{"a":', '')],
    ['distinct keys', distinctKeys('{', limit)],
    ['one key repeated', fill('{', '"a":0,', '"a":0}')],
    ['escapes', fill('{"x":"', '\\u0041', '"}')],
    ['backslashes', fill('{"x":"', '\\\\', '"}')],
    ['one long number', fill('{"x":', '9', '}')],
    ['decimals', fill('[', '1.1e1,', '0]')],
    ['a __proto__ after many objects', fill('{"x":[', '{},', '{}],"__proto__":1}')],
    ['many texts __proto__', fill('["', '__proto__","', '"]')],
    ['quotes', fill('', '"', '')],
    ['white space', fill('', ' ', '{}')],
  ];
}

function distinctKeys(start: string, limit: number): string {
  const keys: string[] = [];
  for (let used = start.length + 1; used < limit - 20; used += (keys.at(-1)?.length ?? 0) + 1)
    keys.push(`"k${keys.length.toString(36)}":0`);
  return `${start}${keys.join(',')}}`;
}

/** Returns bodies that are costly for this operation: its example with one inflated field. */
function ofShape(
  { schema, example, action }: BodyShape,
  limit: number,
  isWanted: (schema: Schema, size: string) => boolean,
): Named[] {
  const wanted = Object.entries(schema.properties).filter(([, own]) => isWanted(own, String(limit)));
  const text = JSON.stringify(example);
  const called = action ? `${action}: ` : '';
  const unknown = distinctKeys(`${text.slice(0, -1)}${text === '{}' ? '' : ','}`, limit);
  return [
    [`${called}its example with unknown keys`, unknown],
    ...wanted.flatMap(([field, own]) =>
      worstValues(own, example[field], limit).map(([name, value]): Named => [
        `${called}${field}: ${name}`,
        withField(example, field, value, limit),
      ]),
    ),
  ];
}

/** Returns a value that fills the rest of the body up to its limit. */
type Filler = (room: number) => string;

function withField(example: Body, field: string, value: Filler, limit: number): string {
  const { [field]: _, ...others } = example;
  const rest = JSON.stringify(others).slice(0, -1);
  const start = `${rest}${rest === '{' ? '' : ','}${JSON.stringify(field)}:`;
  return `${start}${value(limit - Buffer.byteLength(start) - 1)}}`;
}

function worstValues(schema: Schema, example: unknown, limit: number): [string, Filler][] {
  const types = [schema['type']].flat();
  if (types.includes('array')) return worstLists(schema, example);
  // The cost of other types does not depend on the value.
  if (!types.includes('string') || limit < 8_192) return [];
  return [
    ['letters', (room) => filled('"', 'x', '"', room)],
    ['spaces', (room) => filled('"', ' ', '"', room)],
    ['emoji', (room) => filled('"', '😀', '"', room)],
  ];
}

function worstLists(schema: Schema, example: unknown): [string, Filler][] {
  const { maxItems = 0, items } = schema as { maxItems?: number; items?: Schema };
  const [first = {}] = Array.isArray(example) ? (example as unknown[]) : [];
  const list = (count: number, item: () => unknown) => () =>
    JSON.stringify(Array.from({ length: count }, item));
  const validItem = items?.['format'] === 'uuid' ? () => randomUUID() : () => first;
  return [
    ['invalid elements', (room) => filled('[', '"x",', '"x"]', room)],
    ['zeros', (room) => filled('[', '0,', '0]', room)],
    ['empty objects', (room) => filled('[', '{},', '{}]', room)],
    ['the maximum number of invalid elements', list(maxItems, () => 'x')],
    ['the maximum number of empty objects', list(maxItems, () => ({}))],
    ['the maximum number of valid elements', list(maxItems, validItem)],
    ['one element more than the maximum', list(maxItems + 1, validItem)],
  ];
}
