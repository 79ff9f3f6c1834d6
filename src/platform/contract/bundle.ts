import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../config/project-root.js';

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

/** The published contract, as text: what /openapi.json and /openapi.yaml serve. */
export async function readContract(): Promise<{ json: string; yaml: string }> {
  const folder = join(projectRoot, 'generated');
  const [json, yaml] = await Promise.all([
    readFile(join(folder, 'openapi.json'), 'utf8'),
    readFile(join(folder, 'openapi.yaml'), 'utf8'),
  ]);
  return { json, yaml };
}

/**
 * The contract with every internal reference replaced by what it names, and without what the router must not
 * see: discriminator mappings (Ajv refuses them), security (we authenticate before validation, the router's
 * own hook comes after it) and answers (see docs/decisions/0002).
 */
export function toRoutes(bundle: Bundle): Bundle {
  const routes = {
    ...dereference({ ...bundle, paths: mapOperations(bundle.paths, withoutAnswers) }),
    components: {},
  };
  for (const { requestBody } of Object.values(routes.paths).flatMap((item) => Object.values(item)))
    for (const { schema } of Object.values(requestBody?.content ?? {})) takeFiles(schema);
  return routes;
}

const withoutAnswers = (operation: ContractOperation): ContractOperation =>
  operation.operationId ? { ...operation, ...BARE } : operation;

const BARE = { security: [], responses: { default: { description: 'see the contract', content: {} } } };

const mapOperations = (paths: Bundle['paths'], map: (operation: ContractOperation) => ContractOperation) =>
  mapValues(paths, (item) => mapValues(item, map));

const mapValues = <In, Out>(record: Record<string, In>, map: (value: In) => Out): Record<string, Out> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

/** A file of a form is text to the contract, and by now an UploadedFile; platform/http/bodies/forms.ts has checked that it is. */
function takeFiles(schema: Schema = {}): void {
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  for (const [name, { format }] of Object.entries(properties)) {
    if (format === 'binary') properties[name] = {};
  }
}

/**
 * A copy of the bundle with internal references resolved, and discriminators as Ajv takes them. References to one
 * schema lead to one object.
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
      // Ajv's discriminator judges objects alone: null or a list would pass
      copy['type'] ??= 'object';
    }
    return copy;
  };
  // as: resolving references keeps the shape
  return resolve(bundle) as Bundle;
}

function lookUp(bundle: Bundle, reference: string): unknown {
  const keys = reference
    .replace(/^#\//, '')
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.reduce<unknown>((node, key) => (node as Schema)[key], bundle);
}
