import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { projectRoot } from '../../../src/config/project-root.js';
import type { Schema } from '../../../src/platform/contract/bundle.js';
import { bundle, operationIds } from '../../support/service/contract.js';

// What code generators need: one method per operation and one type per schema, each with a good name.

type Described = {
  operationId: string;
  tags: string[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>;
  'x-sdk-omit'?: boolean;
};
type Contract = {
  info: { description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Described>>;
  webhooks?: Record<string, { post: Described }>;
  components: Record<string, Record<string, Schema>>;
};

const contract = bundle as unknown as Contract;
const sdk = JSON.parse(readFileSync(join(projectRoot, 'generated', 'openapi.sdk.json'), 'utf8')) as Contract;

const operationsOf = ({ paths }: Contract) => Object.values(paths).flatMap((item) => Object.values(item));
const schemasOf = ({ components }: Contract) => components['schemas'] ?? {};

/** Returns every object below a node, examples included. */
function objectsIn(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.values(node).flatMap(objectsIn);
  return Array.isArray(node) ? below : [node as Schema, ...below];
}

/** Returns every schema: the objects that are no example. */
function schemasIn(node: unknown): Schema[] {
  if (typeof node !== 'object' || node === null) return [];
  const below = Object.entries(node)
    .filter(([key]) => key !== 'example' && key !== 'examples')
    .flatMap(([, child]) => schemasIn(child));
  return Array.isArray(node) ? below : [node as Schema, ...below];
}

const schemaOf = ({ $ref }: Schema) => schemasOf(contract)[String($ref).split('/').at(-1) ?? ''] ?? {};

const VERBS = [
  ...['add', 'set'],
  ...['change', 'claim', 'create', 'delete', 'download', 'end', 'export', 'get', 'list', 'login', 'manage'],
  ...['preview', 'queue', 'receive', 'record', 'regenerate', 'replace', 'report', 'reprint', 'reset'],
  ...['resolve', 'review', 'rotate'],
  ...['search', 'send', 'submit', 'switch', 'sync', 'update', 'upload', 'verify', 'void'],
];

describe.each([
  ['/openapi.json', contract],
  ['/openapi.sdk.json', sdk],
])('%s', (_path, document) => {
  const schemas = schemasOf(document);

  test('names each operation with a verb and a noun', () => {
    const names = operationsOf(document).map(({ operationId }) => operationId);
    const others = names.filter((name) => !VERBS.includes(/^[a-z]+/.exec(name)?.[0] ?? ''));
    expect({ 'use one of VERBS, or add a verb': others }).toEqual({ 'use one of VERBS, or add a verb': [] });
    expect(names.filter((name) => !/^[a-z]+[A-Z]/.test(name))).toEqual(['login']);
  });

  test('gives each operation one declared tag, and webhooks their own', () => {
    const declared = document.tags.map(({ name }) => name);
    const used = operationsOf(document).map(({ tags }) => tags);
    expect(used.filter((tags) => tags.length !== 1 || !declared.includes(tags[0] ?? ''))).toEqual([]);
    expect(new Set(used.flat()).has('WebhookEvents')).toBe(false);
  });

  test('names schemas like types, and none like the wrapper that a generator makes of an operation', () => {
    const names = Object.keys(schemas);
    expect(names.filter((name) => !/^[A-Z][a-zA-Z]*$/.test(name))).toEqual([]);
    const wrappers = new Set(
      operationsOf(document).flatMap(({ operationId }) =>
        ['Request', 'Response', 'Body', 'Params', 'Data', 'Error'].map((suffix) =>
          `${operationId}${suffix}`.toLowerCase(),
        ),
      ),
    );
    expect(names.filter((name) => wrappers.has(name.toLowerCase()))).toEqual([]);
    const lower = names.map((name) => name.toLowerCase());
    expect(lower.filter((name, n) => lower.indexOf(name) !== n)).toEqual([]);
  });

  test('names no schema like the function with which Go makes another', () => {
    const names = Object.keys(schemas);
    const constructors = names.map((name) => `New${name}`);
    expect(names.filter((name) => constructors.includes(name))).toEqual([]);
  });

  test('has no schema that is only a reference or only null', () => {
    expect(Object.keys(schemas).filter((name) => schemas[name]?.['$ref'])).toEqual([]);
    expect(schemasIn(document).filter(({ type }) => type === 'null')).toEqual([]);
  });

  test('has numbers of 64 bits only', () => {
    const formats = schemasIn(schemas)
      .filter(({ type }) => [type].flat().includes('number'))
      .map(({ format }) => format);
    expect([...new Set(formats)]).toEqual(['double']);
  });

  test('has a discriminator with a complete mapping for each choice of actions or events', () => {
    const choices = Object.entries(schemas).filter(
      ([name, { oneOf }]) => Array.isArray(oneOf) && /Action$|Event$/.test(name),
    );
    expect(choices.length).toBeGreaterThan(10);
    for (const [name, { oneOf, discriminator }] of choices) {
      // OpenAPI defines these types.
      const branches = (oneOf as { $ref: string }[]).map(({ $ref }) => $ref);
      const { propertyName, mapping } = discriminator as { propertyName: string; mapping: object };
      const expected = branches.map(($ref) => {
        const { properties, required } = schemaOf({ $ref }) as { properties: Schema; required: string[] };
        expect([name, $ref, required.includes(propertyName)]).toEqual([name, $ref, true]);
        return [String((properties[propertyName] as Schema)['const']), $ref];
      });
      expect([name, mapping]).toEqual([name, Object.fromEntries(expected)]);
      if (propertyName === 'action') expect(branches.filter(($ref) => !$ref.endsWith('Action'))).toEqual([]);
    }
  });

  test('has only request bodies that are a named schema, and a choice only by a discriminator', () => {
    for (const { operationId, requestBody } of operationsOf(document))
      for (const { schema } of Object.values(requestBody?.content ?? {})) {
        expect([operationId, typeof schema['$ref']]).toEqual([operationId, 'string']);
        const { oneOf, discriminator } = schemaOf(schema);
        expect([operationId, Boolean(oneOf)]).toEqual([operationId, Boolean(discriminator)]);
      }
  });

  test('is a valid OpenAPI document', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });
});

describe('the document for code generators', () => {
  test('has every operation but those that are marked', () => {
    const marked = operationsOf(contract).filter((operation) => operation['x-sdk-omit']);
    expect(marked.map(({ operationId }) => operationId).sort()).toEqual([
      'getContractJson',
      'getContractYaml',
      'getNoticeChoice',
      'getSdkContract',
      'getTrackingPage',
      'getTrackingSearch',
      'receiveFeedEvent',
      'submitNoticeChoice',
      'submitPrealertWithoutSuffix',
      'submitTrackingSearch',
    ]);
    const kept = operationsOf(sdk).map(({ operationId }) => operationId);
    expect(operationIds.filter((id) => !kept.includes(id)).sort()).toEqual(
      marked.map(({ operationId }) => operationId).sort(),
    );
  });

  test('has neither webhooks nor marked parts, and a short description', () => {
    expect(sdk.webhooks).toBeUndefined();
    expect(sdk.tags.map(({ name }) => name)).not.toContain('WebhookEvents');
    expect(objectsIn(sdk).filter((node) => 'x-sdk-omit' in node)).toEqual([]);
    expect(sdk.info.description.length).toBeLessThan(500);
  });

  test('has one media type per request body and per success, except for files with a format parameter', () => {
    const several = operationsOf(sdk).flatMap(({ operationId, requestBody, responses }) =>
      [requestBody, ...['200', '201'].map((status) => responses[status])]
        .filter((part) => Object.keys(part?.content ?? {}).length > 1)
        .map(() => operationId),
    );
    expect(several.sort()).toEqual([
      'downloadCourierBill',
      'getClaimDocument',
      'getCourierLogo',
      'getManifestDocument',
      'getPackageLabel',
    ]);
  });

  test('has no component that nothing uses, except the payloads of webhooks', () => {
    const used = new Set(objectsIn(sdk).map(({ $ref }) => $ref));
    const unused = Object.entries(sdk.components)
      .filter(([kind]) => kind !== 'securitySchemes')
      .flatMap(([kind, named]) => Object.keys(named).map((name) => `#/components/${kind}/${name}`))
      .filter(($ref) => !used.has($ref));
    const payloads = Object.values(contract.webhooks ?? {}).map(
      ({ post }) => post.requestBody?.content['application/json']?.schema['$ref'],
    );
    expect(unused.filter(($ref) => !payloads.includes($ref))).toEqual([]);
    const names = Object.keys(schemasOf(sdk)).map((name) => `#/components/schemas/${name}`);
    expect(payloads.filter(($ref) => !names.includes(String($ref)))).toEqual([]);
  });

  test('has every component that it refers to, unchanged unless a part was left out', () => {
    const missing = objectsIn(sdk)
      .map(({ $ref }) => $ref)
      .filter(($ref): $ref is string => typeof $ref === 'string')
      .filter(($ref) => {
        const [kind = '', name = ''] = $ref.split('/').slice(2);
        return sdk.components[kind]?.[name] === undefined;
      });
    expect(missing).toEqual([]);
    const changed = Object.entries(schemasOf(sdk))
      .filter(([name, schema]) => JSON.stringify(schema) !== JSON.stringify(schemasOf(contract)[name]))
      .map(([name]) => name);
    expect(changed.sort()).toEqual([
      'ClaimDocumentUpload',
      'CourierSettingsUpdate',
      'ListPackagesResult',
      'LogoUpload',
      'PackageSearch',
      'UpdateCourierSettingsResult',
    ]);
  });
});
