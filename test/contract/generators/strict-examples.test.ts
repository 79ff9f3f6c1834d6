import { describe, expect, test } from '@jest/globals';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import type { Media } from '../../support/contract/dereference.js';
import { bundle, describeOperation } from '../../support/service/contract.js';

// Validates examples as a client generator does: plain JSON Schema 2020-12 without discriminators, where
// `oneOf` means exactly one. The service's own validator selects a branch by its discriminator and closes
// schemas in tests.

const ajv = new Ajv2020({
  strict: true,
  // OpenAPI does not require a type beside each keyword, and allows `required` beside `$ref`.
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  allErrors: true,
  multipleOfPrecision: 9,
  keywords: [
    'example',
    'externalDocs',
    'xml',
    'x-secret',
    'x-chosen-with',
    'x-extensible-enum',
    'x-sdk-omit',
    'x-text',
    'x-refuses-misspelling',
  ],
});
addFormats.default(ajv);
for (const format of ['password', 'int32', 'int64', 'float', 'double', 'binary']) ajv.addFormat(format, true);

type Example = { where: string; schema: Schema; value: unknown };
type Described = {
  parameters?: object[];
  requestBody?: { content?: Record<string, Media> };
  responses?: Record<string, object>;
};

function lookUp(reference: string): unknown {
  const keys = reference
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  // The bundle's references point to objects.
  return keys.reduce<unknown>((node, key) => (node as Schema)[key], bundle);
}

/** Replaces references by their targets and removes discriminators. */
function inline(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(inline);
  if (typeof node !== 'object' || node === null) return node;
  const { $ref: reference } = node as { $ref?: unknown };
  if (typeof reference === 'string') return inline(lookUp(reference));
  return Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => key !== 'discriminator')
      .map(([key, value]) => [key, inline(value)]),
  );
}

function mediaExamples(where: string, content: Record<string, Media> = {}): Example[] {
  return Object.entries(content).flatMap(([mediaType, { schema, example, examples = {} }]) => {
    if (!schema) return [];
    const values = Object.entries(examples).map(([name, { value }]) => ({ name, value }));
    const all = example === undefined ? values : [{ name: 'example', value: example }, ...values];
    return all.map(({ name, value }) => ({ where: `${where} ${mediaType} ${name}`, schema, value }));
  });
}

type Single = { name?: string; schema?: Schema; example?: unknown };

const singleExample = (where: string, { schema, example }: Single): Example[] =>
  schema && example !== undefined ? [{ where, schema, value: example }] : [];

function examplesOf(id: string, operation: unknown): Example[] {
  // OpenAPI defines this shape of an operation.
  const { parameters = [], requestBody, responses = {} } = inline(operation) as Described;
  return [
    ...(parameters as Single[]).flatMap((each) => singleExample(`${id} parameter ${each.name ?? ''}`, each)),
    ...mediaExamples(`${id} request`, requestBody?.content),
    ...Object.entries(responses).flatMap(([status, response]) => {
      const { content, headers = {} } = response as { content?: Record<string, Media>; headers?: object };
      const named = Object.entries(headers) as [string, Single][];
      return [
        ...mediaExamples(`${id} ${status}`, content),
        ...named.flatMap(([name, header]) => singleExample(`${id} ${status} header ${name}`, header)),
      ];
    }),
  ];
}

// The bundle contains webhooks in the same shape as paths.
const { webhooks = {} } = bundle as unknown as { webhooks?: Record<string, object> };
const operations = [...Object.entries(bundle.paths), ...Object.entries(webhooks)].flatMap(([path, item]) =>
  Object.entries(item)
    .filter(
      ([, operation]) => typeof operation === 'object' && operation !== null && 'responses' in operation,
    )
    .map(([method, operation]): [string, unknown] => [`${method} ${path}`, operation]),
);

const compiled = new Map<string, ValidateFunction>();

function problemsOf(schema: Schema, value: unknown): string[] {
  const text = JSON.stringify(schema);
  const validate = compiled.get(text) ?? ajv.compile(schema);
  compiled.set(text, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message ?? ''} ${JSON.stringify(params)}`,
  );
}

describe('every example satisfies plain JSON Schema 2020-12, in exactly one branch of a oneOf', () => {
  test.each(operations)('%s has only valid examples', (id, operation) => {
    const problems = examplesOf(id, operation).flatMap(({ where, schema, value }) =>
      problemsOf(schema, value).map((problem) => `${where}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  test('the contract has more than 2,000 examples, webhooks included', () => {
    expect(operations.flatMap(([id, operation]) => examplesOf(id, operation)).length).toBeGreaterThan(2_000);
    expect(Object.keys(webhooks).length).toBeGreaterThan(0);
  });

  test('an example that matches two branches is rejected', () => {
    const schema = { oneOf: [{ required: ['a'] }, { required: ['b'] }] };
    expect(problemsOf(schema, { a: 1 })).toEqual([]);
    expect(problemsOf(schema, { a: 1, b: 2 })).toHaveLength(1);
  });
});

test('the YAML contract is declared as a file, not as a string, and its example is an OpenAPI document in YAML', () => {
  const media = describeOperation('getContractYaml').responses['200']?.content?.['application/yaml'];
  expect(media?.schema).toBeUndefined();
  expect(parse(String(media?.example))).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });
});
