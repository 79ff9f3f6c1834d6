import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Schema } from '../../src/platform/contract/bundle.js';
import { DEMO } from '../../fixtures/demo/demo.js';
import { inputs, isNamed, type Input } from '../support/builders/inputs.js';
import { makeFirstOfSchema } from '../support/harness/first-of-schema.js';
import { startService, type Reply, type Service } from '../support/service/service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
  // This administrator stays able to log in even if a call makes two-factor login mandatory.
  await service.owner.query("update users set two_factor_enabled = true, totp_secret = 'x' where id = $1", [
    DEMO.usersOfTwo.admin,
  ]);
});

afterAll(async () => {
  await service.stop();
});

/** A keyword of a schema, with values just inside the bound and values just outside it. */
type Bound = { keyword: string; accepted: unknown[]; rejected: unknown[] };

/** Returns every bound that a schema sets. The accepted values also satisfy the schema's other keywords. */
function boundsOf(schema: Schema): Bound[] {
  const bounds = Object.entries(schema).map(([keyword, limit]) => BOUNDS[keyword]?.(limit, schema));
  return bounds.filter((bound) => bound !== undefined);
}

type MakeBound = (limit: unknown, schema: Schema) => Bound | undefined;

const stepOf = (schema: Schema) => Number(schema['multipleOf'] ?? (schema['type'] === 'integer' ? 1 : 0.01));
const exact = (value: number) => Number(value.toFixed(6));

const BOUNDS: Record<string, MakeBound> = {
  minimum: (limit, schema) => ({
    keyword: 'minimum',
    accepted: [limit],
    rejected: [exact(Number(limit) - stepOf(schema))],
  }),
  maximum: (limit, schema) => ({
    keyword: 'maximum',
    accepted: [limit],
    rejected: [exact(Number(limit) + stepOf(schema))],
  }),
  exclusiveMinimum: (limit, schema) => ({
    keyword: 'exclusiveMinimum',
    accepted: [exact(Number(limit) + stepOf(schema))],
    rejected: [limit],
  }),
  multipleOf: (limit, schema) => {
    const step = Number(limit);
    const least = Number(schema['minimum'] ?? schema['exclusiveMinimum'] ?? 0);
    return { keyword: 'multipleOf', accepted: [exact(least + step)], rejected: [exact(least + step * 1.5)] };
  },
  minLength: (limit, schema) => ({
    keyword: 'minLength',
    accepted: limit === 0 ? [] : [textOf(Number(limit), schema)],
    rejected: limit === 0 ? [] : ['x'.repeat(Number(limit) - 1)],
  }),
  // Lengths are counted in characters, so an emoji counts once.
  maxLength: (limit, schema) => ({
    keyword: 'maxLength',
    accepted: [textOf(Number(limit), schema), ...(isFree(schema) ? ['😀'.repeat(Number(limit))] : [])],
    rejected: [
      `${textOf(Number(limit), schema)}x`,
      ...(isFree(schema) ? [`${'😀'.repeat(Number(limit))}x`] : []),
    ],
  }),
  minItems: (limit, schema) => ({
    keyword: 'minItems',
    accepted: [listOf(Number(limit), schema)],
    rejected: limit === 0 ? [] : [listOf(Number(limit) - 1, schema)],
  }),
  maxItems: (limit, schema) => ({
    keyword: 'maxItems',
    accepted: [listOf(Number(limit), schema)],
    rejected: [listOf(Number(limit) + 1, schema)],
  }),
  enum: (values) => ({
    keyword: 'enum',
    accepted: [values].flat(),
    rejected: ['no such value', `${String([values].flat()[0])} `],
  }),
  const: (value) => ({ keyword: 'const', accepted: [value], rejected: [`${String(value)}s`] }),
  pattern: (pattern, schema) => {
    // The rule of a text trims it first.
    const isAllowed = (text: string) => new RegExp(String(pattern), 'u').test(text.trim());
    return {
      keyword: 'pattern',
      accepted: [patternText(schema)],
      rejected: [' ', '!', 'x', '1'].filter((text) => !isAllowed(text)),
    };
  },
  format: (format) => {
    const samples = FORMATS[String(format)];
    return samples && { keyword: 'format', ...samples() };
  },
};

// The test `every format has samples` fails for a format that is missing here.
const FORMATS: Record<string, () => Omit<Bound, 'keyword'>> = {
  uuid: () => ({ accepted: [randomUUID()], rejected: ['not-a-uuid', `${randomUUID()}0`] }),
  date: () => ({ accepted: ['2028-02-29'], rejected: ['2026-02-29', '2026-13-01', '21.11.2026'] }),
  email: () => ({ accepted: ['desk@example.com'], rejected: ['desk', 'desk@', '@example.com'] }),
  uri: () => ({ accepted: ['https://example.com/hooks'], rejected: ['hooks', '//x'] }),
};

/** These formats forbid nothing. */
const FREE_FORMATS = ['password', 'int32', 'int64', 'float', 'double', 'binary'];

const isFree = ({ pattern, format, enum: values }: Schema) =>
  (pattern === undefined || pattern === '\\S') && format === undefined && values === undefined;

// JSON Schema patterns are strings.
const patternOf = (schema: Schema) => (schema['pattern'] ?? '.*') as string;

/** Returns a matching text of the given length, or the longest that a sample can be stretched to. */
function textOf(length: number, schema: Schema): string {
  if (isFree(schema)) return 'x'.repeat(length);
  const pattern = new RegExp(patternOf(schema), 'u');
  const missing = (sample: string) => Math.max(0, length - sample.length);
  const stretched = ['', ...samplesOf(schema)].flatMap((sample) =>
    Array.from({ length: sample.length + 1 }, (_, at) =>
      ['1', 'x', 'A', 'a'].map(
        (unit) => sample.slice(0, at) + unit.repeat(missing(sample)) + sample.slice(at),
      ),
    ).flat(),
  );
  return stretched.find((text) => text.length === length && pattern.test(text)) ?? patternText(schema);
}

const patternText = (schema: Schema): string => samplesOf(schema)[0] ?? '';

const samples = new Map<string, string[]>();

/** Returns texts that the pattern and the length limits allow. */
function samplesOf(schema: Schema): string[] {
  const { minLength = 0, maxLength = 100 } = schema as { minLength?: number; maxLength?: number };
  const key = JSON.stringify([patternOf(schema), minLength, maxLength]);
  const made = samples.get(key) ?? makeSamples(patternOf(schema), minLength, maxLength);
  samples.set(key, made);
  return made;
}

function makeSamples(pattern: string, minLength: number, maxLength: number): string[] {
  const texts = fc.stringMatching(new RegExp(pattern));
  const isAllowed = (text: string) =>
    text.length >= minLength && text.length <= maxLength && text.trim() !== '';
  return fc.sample(texts, { seed: 1, numRuns: 100 }).filter(isAllowed).slice(0, 20);
}

function listOf(length: number, schema: Schema): unknown[] {
  const items = (schema['items'] ?? {}) as Schema;
  return Array.from({ length }, () => itemOf(items));
}

function itemOf(items: Schema): unknown {
  if (items['format'] === 'uuid') return randomUUID();
  if (items['type'] !== 'object') return 'x';
  const properties = Object.entries((items['properties'] ?? {}) as Record<string, Schema>);
  const required = (items['required'] ?? []) as string[];
  return Object.fromEntries(
    properties.filter(([name]) => required.includes(name)).map(([name, child]) => [name, leastOf(child)]),
  );
}

const leastOf = (schema: Schema): unknown => boundsOf(schema)[0]?.accepted[0] ?? 1;

const errorsOf = ({ body }: Reply) => (body['errors'] ?? []) as { field: string; code: string }[];

/** The error codes that report a violation: an unknown action is reported as `enum`, not as `const`. */
const REPORTED_AS: Record<string, string[]> = {
  const: ['const', 'enum'],
  // An empty text is reported as blank.
  minLength: ['minLength', 'pattern'],
};

const isRejectedFor = (reply: Reply, field: string, keyword: string) =>
  errorsOf(reply).some(
    (error) => isNamed(error.field, field) && (REPORTED_AS[keyword] ?? [keyword]).includes(error.code),
  );

const summarize = (value: unknown): string => {
  if (typeof value === 'string' && value.length > 24)
    return `${[...value].length} times ${[...value][0] ?? ''}`;
  if (Array.isArray(value)) return `${value.length} items`;
  return JSON.stringify(value);
};

const isFirstOfSchema = makeFirstOfSchema();

/** Every bound of the first input of a schema. Another input with this schema proves with one value that it is validated. */
const cases = inputs.flatMap((input) => {
  const bounds = boundsOf(input.schema);
  return (isFirstOfSchema(input.schema) ? bounds : oneOf(bounds)).map((bound) => ({ input, bound }));
});

/**
 * Returns a bound with one value that is rejected. For a number this is the maximum, which the examples of many lists show. A
 * list of the maximum length takes longest.
 */
function oneOf(bounds: Bound[]): Bound[] {
  const cheap = bounds.filter(({ keyword, rejected }) => rejected.length > 0 && keyword !== 'maxItems');
  const chosen = cheap.find(({ keyword }) => keyword === 'maximum') ?? cheap[0];
  return chosen ? [{ keyword: chosen.keyword, accepted: [], rejected: chosen.rejected.slice(0, 1) }] : [];
}

const title = ({ field, owner }: Input, { keyword, accepted, rejected }: Bound) =>
  `${field} of ${owner}, ${keyword}: accepts ${accepted.map(summarize).join(', ') || 'nothing'} and rejects ${
    rejected.map(summarize).join(', ') || 'nothing'
  }`;

describe('schema bounds of every input', () => {
  test.each(cases.map(({ input, bound }) => [title(input, bound), input, bound] as const))(
    '%s',
    async (_title, input, { keyword, accepted, rejected }) => {
      for (const value of accepted) {
        const reply = await service.call(input.id, input.callWith(value));
        expect([summarize(value), isRejectedFor(reply, input.field, keyword)]).toEqual([
          summarize(value),
          false,
        ]);
        // A business rule may reject the value, but the schema must not.
        expect(
          ['format', 'type', 'pattern'].filter((each) => isRejectedFor(reply, input.field, each)),
        ).toEqual([]);
        expect(reply.status).toBeLessThan(500);
      }
      for (const value of rejected) {
        const reply = await service.call(input.id, input.callWith(value));
        expect([summarize(value), reply.status, isRejectedFor(reply, input.field, keyword)]).toEqual([
          summarize(value),
          400,
          true,
        ]);
      }
    },
  );

  test('every format has samples, and every string, number and array has a bound', () => {
    // JSON Schema formats are strings.
    const formats = inputs.map(({ schema }) => schema['format'] as string | undefined);
    const untried = formats.filter((format) => format && !FORMATS[format] && !FREE_FORMATS.includes(format));
    expect(untried).toEqual([]);
    const unbounded = inputs
      .filter(({ schema }) => !['boolean', 'object'].includes(String(schema['type'])))
      .filter(({ schema }) => boundsOf(schema).length === 0 && schema['format'] !== 'binary')
      .map(({ owner, field }) => `${field} of ${owner}`);
    expect(unbounded).toEqual([]);
  });
});
