import { canonical, isEqual, type Schema } from '../contract.js';

/** Merges two schemas that both apply, as in `allOf`. Neither has references or branches. */
export function mergeSchemas(left: Schema, right: Schema): Schema {
  const merged: Schema = { ...left };
  for (const [keyword, value] of Object.entries(normalised(right))) {
    const merge = MERGES[keyword] ?? last;
    merged[keyword] = keyword in merged ? merge(merged[keyword], value) : value;
  }
  return merged;
}

/** Writes equivalent keywords in one way: `const` as `enum`, and a type for schemas with fields or items. */
function normalised({ const: constant, ...schema }: Schema): Schema {
  const copy: Schema = { ...schema };
  if (constant !== undefined) copy['enum'] = [constant];
  if (copy['type'] !== undefined) copy['type'] = [copy['type']].flat();
  else if ('properties' in copy) copy['type'] = ['object'];
  else if ('items' in copy) copy['type'] = ['array'];
  if (copy['pattern'] !== undefined) copy['pattern'] = [copy['pattern']].flat();
  if (copy['not'] !== undefined && !Array.isArray(copy['not'])) copy['not'] = [withoutAnyItems(copy['not'])];
  return copy;
}

/** Removes the items of arrays that may have any items, at any depth: an array without the keyword is the same. */
function withoutAnyItems(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutAnyItems);
  if (typeof node !== 'object' || node === null) return node;
  const { items, ...others } = node as Schema;
  const isAny = others['type'] === 'array' && isEqual(items, {});
  const kept = Object.entries(isAny || items === undefined ? others : { ...others, items });
  return Object.fromEntries(kept.map(([name, child]) => [name, withoutAnyItems(child)]));
}

type Merge = (left: unknown, right: unknown) => unknown;

const last: Merge = (_left, right) => right;
const highest: Merge = (left, right) => Math.max(Number(left), Number(right));
const lowest: Merge = (left, right) => Math.min(Number(left), Number(right));
const both: Merge = (left, right) => ({ allOf: [left, right] });

/** Lists without order, as JSON Schema treats them. */
const union: Merge = (left, right) => [...new Set([...(left as unknown[]), ...(right as unknown[])])].sort();

const common: Merge = (left, right) => {
  const wanted = new Set((right as unknown[]).map(canonical));
  return (left as unknown[]).filter((value) => wanted.has(canonical(value)));
};

const commonTypes: Merge = (left, right) => {
  const accepts = (types: string[], type: string) =>
    types.includes(type) || (type === 'integer' && types.includes('number'));
  const [a, b] = [left as string[], right as string[]];
  return [...new Set([...a, ...b])].filter((type) => accepts(a, type) && accepts(b, type));
};

const fields: Merge = (left, right) => {
  const merged = { ...(left as Record<string, Schema>) };
  for (const [name, schema] of Object.entries(right as Record<string, Schema>)) {
    const known = merged[name];
    merged[name] = known ? { allOf: [known, schema] } : schema;
  }
  return merged;
};

const additional: Merge = (left, right) => {
  if (left === false || right === false) return false;
  if (left === true) return right;
  return right === true ? left : both(left, right);
};

const MERGES: Record<string, Merge> = {
  type: commonTypes,
  enum: common,
  'x-extensible-enum': common,
  required: union,
  pattern: union,
  not: union,
  properties: fields,
  items: both,
  additionalProperties: additional,
  minimum: highest,
  exclusiveMinimum: highest,
  minLength: highest,
  minItems: highest,
  minProperties: highest,
  maximum: lowest,
  exclusiveMaximum: lowest,
  maxLength: lowest,
  maxItems: lowest,
  maxProperties: lowest,
};
