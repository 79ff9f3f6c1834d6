import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-root.js';
import { NDJSON } from './types.js';

export type Schema = { [key: string]: unknown };
export type Media = { schema?: Schema; examples?: Record<string, { value?: unknown }>; example?: unknown };
export type ContractResponse = {
  headers?: Record<string, { required?: boolean; schema?: Schema; example?: string | number }>;
  content?: Record<string, Media>;
};
export type ContractOperation = {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; example?: unknown }[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<string, ContractResponse>;
};
export type Bundle = {
  paths: Record<string, Record<string, ContractOperation>>;
  components: Record<string, unknown>;
};

/** Returns the text of the published contract, which /openapi.json and /openapi.yaml serve. */
export async function readContract(): Promise<{ json: string; yaml: string }> {
  const folder = join(projectRoot, 'generated');
  const [json, yaml] = await Promise.all([
    readFile(join(folder, 'openapi.json'), 'utf8'),
    readFile(join(folder, 'openapi.yaml'), 'utf8'),
  ]);
  return { json, yaml };
}

/**
 * Returns the contract for the router, with every internal reference resolved. It omits discriminator mappings, which Ajv
 * rejects; security, because the router's hook runs after validation and we authenticate before it; and responses
 * (docs/decisions/0002). A body of lines gets the schema of the JSON body, which is that of each line.
 */
export function toRoutes(bundle: Bundle): Bundle {
  const routes = {
    ...dereference({ ...bundle, paths: mapOperations(bundle.paths, withoutResponses) }),
    components: {},
  };
  for (const { requestBody } of Object.values(routes.paths).flatMap((item) => Object.values(item))) {
    const { [NDJSON]: lines, 'application/json': json, ...forms } = requestBody?.content ?? {};
    if (lines && json?.schema) lines.schema = json.schema;
    for (const { schema } of Object.values(forms)) acceptUploadedFiles(schema);
  }
  return routes;
}

const withoutResponses = (operation: ContractOperation): ContractOperation =>
  operation.operationId ? { ...operation, ...OMITTED } : operation;

const OMITTED = { security: [], responses: { default: { description: 'see the contract', content: {} } } };

const mapOperations = (paths: Bundle['paths'], map: (operation: ContractOperation) => ContractOperation) =>
  mapValues(paths, (item) => mapValues(item, map));

const mapValues = <In, Out>(record: Record<string, In>, map: (value: In) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** Lets a form's file fields accept any value: platform/http/bodies/forms.ts has already replaced them by an UploadedFile. */
function acceptUploadedFiles(schema: Schema = {}): void {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  for (const [name, { format }] of Object.entries(properties)) {
    if (format === 'binary') properties[name] = {};
  }
}

/**
 * Returns a copy of the bundle with internal references resolved and discriminators in the form that Ajv accepts. All
 * references to one schema resolve to the same object.
 */
export function dereference(bundle: Bundle): Bundle {
  const resolved = new Map<string, unknown>();
  const follow = (reference: string): unknown => {
    if (!resolved.has(reference)) resolved.set(reference, resolve(lookUp(bundle, reference)));
    return resolved.get(reference);
  };
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    const reference = (node as Schema)['$ref'];
    if (typeof reference === 'string') return follow(reference);
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolve(value)]));
    if (typeof copy['discriminator'] === 'object') {
      copy['discriminator'] = { propertyName: (copy['discriminator'] as Schema)['propertyName'] };
      // Ajv's discriminator only checks objects: null or an array would pass.
      copy['type'] ??= 'object';
    }
    return copy;
  };
  // Resolving references does not change the bundle's shape.
  return resolve(bundle) as Bundle;
}

function lookUp(bundle: Bundle, reference: string): unknown {
  const keys = reference
    .replace(/^#\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((node, key) => (node as Schema)[key], bundle);
}
