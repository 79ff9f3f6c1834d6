import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../root.js';

export type Schema = { [key: string]: unknown };
export type Media = { schema?: Schema; examples?: Record<string, { value?: unknown }>; example?: unknown };
export type ContractOperation = {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: { required?: boolean; content: Record<string, Media> };
  responses: Record<
    string,
    { headers?: Record<string, { required?: boolean }>; content?: Record<string, Media> }
  >;
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
  const routes = dereference(bundle);
  for (const operation of Object.values(routes.paths).flatMap((item) => Object.values(item))) {
    if (!operation.operationId) continue;
    Object.assign(operation, { security: [], responses: { default: { description: 'see the contract' } } });
  }
  return { ...routes, components: {} };
}

/** A copy of the bundle with internal references resolved, and discriminators as Ajv takes them. */
export function dereference(bundle: Bundle): Bundle {
  const resolve = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(resolve);
    if (typeof node !== 'object' || node === null) return node;
    const reference = (node as Schema)['$ref'];
    if (typeof reference === 'string') return resolve(lookUp(bundle, reference));
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
