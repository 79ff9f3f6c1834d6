import fc from 'fast-check';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { readText, type TextKind } from '../../../src/platform/values/text-rules.js';
import { idsFor, textsFor, type Pools } from './pools.js';
import { filesFor, type FilePart } from './files.js';

/** The field and the operation that a value is generated for. */
export type ValueContext = { field: string; operationId: string; pools: Pools };

/** Generates values that a schema allows, from existing data where possible. */
export function validValue(schema: Schema, context: ValueContext): fc.Arbitrary<unknown> {
  // JSON Schema defines the types of these keywords.
  const branches = (schema['oneOf'] ?? schema['anyOf']) as Schema[] | undefined;
  if (branches) return fc.oneof(...branches.map((branch) => validValue(branch, context)));
  if (schema['allOf']) return validValue(merged(schema['allOf'] as Schema[]), context);
  if ('const' in schema) return fc.constant(schema['const']);
  if (schema['enum']) return fc.constantFrom(...(schema['enum'] as unknown[]));
  const types = [schema['type']].flat();
  if (types.includes('object') || schema['properties']) return validObject(schema, context);
  if (types.includes('array')) return validList(schema, context);
  if (types.includes('integer') || types.includes('number')) return validNumber(schema, context);
  if (types.includes('boolean')) return fc.boolean();
  if (isFile(schema)) return fc.constantFrom<FilePart[]>(...filesFor(context.field, context.operationId));
  return validText(schema, context);
}

const isFile = (schema: Schema): boolean =>
  schema['format'] === 'binary' || schema['contentMediaType'] !== undefined;

const merged = (parts: Schema[]): Schema => ({
  type: 'object',
  properties: Object.assign({}, ...parts.map((part) => part['properties'])) as Schema,
  required: parts.flatMap((part) => (part['required'] ?? []) as string[]),
});

function validObject(schema: Schema, context: ValueContext): fc.Arbitrary<Record<string, unknown>> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  const fields = properties.map(
    ([field, child]) => [field, validValue(child, { ...context, field })] as const,
  );
  const required = (schema['required'] ?? []) as string[];
  return fc.record(Object.fromEntries(fields), { requiredKeys: required });
}

function validList(schema: Schema, context: ValueContext): fc.Arbitrary<unknown[]> {
  const { minItems = 0, maxItems = 4 } = schema as { minItems?: number; maxItems?: number };
  const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 4)) };
  const item = validValue((schema['items'] ?? {}) as Schema, context);
  return schema['uniqueItems'] ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
}

function validNumber(schema: Schema, { field }: ValueContext): fc.Arbitrary<number> {
  const bound = (name: string) => schema[name] as number | undefined;
  const step = bound('multipleOf') ?? ([schema['type']].flat().includes('integer') ? 1 : 0.01);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
  const above = bound('exclusiveMinimum');
  const min = Math.ceil((bound('minimum') ?? (above === undefined ? -1000 : above + step)) / step - 1e-9);
  const max = Math.floor((bound('maximum') ?? 1_000_000) / step + 1e-9);
  // Large pages would only slow the run down.
  const small = /page|limit/i.test(field) ? 10 : 5_000;
  return fc
    .oneof(
      { weight: 20, arbitrary: fc.integer({ min, max: Math.min(max, min + small) }) },
      { weight: 1, arbitrary: fc.integer({ min, max }) },
      { weight: 1, arbitrary: fc.constantFrom(min, max) },
    )
    .map((steps) => Number((steps * step).toFixed(decimals)));
}

function validText(schema: Schema, { field, operationId, pools }: ValueContext): fc.Arbitrary<string> {
  const format = schema['format'];
  if (format === 'uuid') return validId(idsFor(pools, field, operationId), pools.foreignIds);
  if (format === 'date') return DATES;
  if (format === 'uri')
    return fc.constantFrom('https://example.com/hooks/crossdock', 'https://partner.example.org/api?x=1');
  if (format === 'email') return fc.constantFrom('desk@example.com', 'ops+1@partner.example.org');
  const pattern = schema['pattern'] as string | undefined;
  const { minLength = 0, maxLength = 300 } = schema as { minLength?: number; maxLength?: number };
  if (pattern && pattern !== '\\S')
    return fc.stringMatching(new RegExp(pattern)).filter((text) => [...text].length <= maxLength);
  const isAllowed = (text: string) =>
    [...text].length >= minLength && [...text].length <= maxLength && (!pattern || /\S/.test(text));
  const stored = textsFor(pools, field).filter(isAllowed);
  const free = freeText(maxLength).map((text) => {
    const allowed = allowedBy(schema, text);
    return isAllowed(allowed) ? allowed : 'x'.repeat(Math.max(1, minLength));
  });
  if (stored.length === 0) return free;
  // An existing number mostly causes a conflict.
  const [known, fresh] = /number/i.test(field) ? [1, 4] : [4, 1];
  return fc.oneof(
    { weight: known, arbitrary: fc.constantFrom(...stored) },
    { weight: fresh, arbitrary: free },
  );
}

/** Returns a text without the characters that the rule of the field forbids. */
function allowedBy(schema: Schema, text: string): string {
  const kind = (schema['x-text'] ?? 'exact') as TextKind;
  return readText(
    kind,
    kind === 'exact' ? text : text.replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/gu, ' '),
  ).text;
}

function validId(likely: string[], foreignIds: string[]): fc.Arbitrary<string> {
  const rare = [
    { weight: 1, arbitrary: fc.constantFrom(...foreignIds) },
    { weight: 1, arbitrary: fc.uuid() },
  ];
  if (likely.length === 0) return fc.oneof(...rare);
  return fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...likely) }, ...rare);
}

const DATES = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .date({ min: new Date('2026-09-01'), max: new Date('2026-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10)),
  },
  { weight: 1, arbitrary: fc.constantFrom('0001-01-01', '9999-12-31', '2024-02-29', '1970-01-01') },
);

const SPECIAL_TEXTS = [
  '%',
  '_',
  "'; drop table packages; --",
  '\\',
  '=1+1',
  '@x',
  '\t',
  '\u202e',
  '\u0000'.slice(1),
];

/** Generates any text that PostgreSQL can store, up to a length in code points. */
function freeText(maxLength: number): fc.Arbitrary<string> {
  return fc
    .oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: Math.min(maxLength, 40) }),
      fc.string({ unit: 'grapheme', maxLength: Math.min(maxLength, 20) }),
      fc.string({ unit: 'binary', maxLength: Math.min(maxLength, 20) }),
      fc.constantFrom(...SPECIAL_TEXTS),
      fc.constantFrom('x', '😀').map((unit) => unit.repeat(maxLength)),
    )
    .map((text) => [...text.replaceAll('\0', '').toWellFormed()].slice(0, maxLength).join(''));
}

/** Values that no field should accept. */
export const WEIRD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown[]>(
    ...[null, true, false, 0, -1, 1.5, 1e20, -1e308, 2 ** 53, 'x', '', ' ', 'a\u0000b', '\ud800', '\udfff'],
    ...[[], {}, [[]], [null], { a: { b: {} } }, '٣', '1e3', '0x10', ' 1', '2026-02-30', '\u202e', '\ufeff'],
    'x'.repeat(3_000),
  ),
  fc.string({ unit: 'binary', maxLength: 50 }),
  fc.double(),
  fc.integer({ min: 1, max: 60 }).map(nest),
  fc.jsonValue({ maxDepth: 3 }),
);

function nest(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}
