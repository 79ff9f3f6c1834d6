import type { Schema } from '../../../src/platform/contract/bundle.js';

export type Media = { schema?: Schema; examples?: Record<string, { value?: unknown }>; example?: unknown };
type ContractResponse = {
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
