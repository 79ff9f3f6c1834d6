import type { ValidateFunction } from 'ajv';
import type { FastifyValidationResult } from 'fastify/types/schema.js';
import { ApiError } from '../errors/errors.js';
import type { Schema } from './bundle.js';
import { toFieldErrors } from './field-errors.js';
import type { Item } from './types.js';

/** A list with `x-each-item`, the schema of its elements, and the schema of the body without them. */
export type ItemList = { name: string; items: Schema; body: Schema };

/** Returns the list of a body whose elements are validated one by one, or undefined. */
export function itemListOf(schema: Schema): ItemList | undefined {
  // JSON Schema defines the type of this keyword's value.
  const properties = (schema['properties'] ?? {}) as Record<string, Schema>;
  const name = Object.keys(properties).find((key) => properties[key]?.['x-each-item']);
  if (name === undefined) return undefined;
  const { items, ...list } = properties[name] ?? {};
  // The contract's lint requires that a list describes its elements.
  return { name, items: items as Schema, body: { ...schema, properties: { ...properties, [name]: list } } };
}

/** Validates a body, then each element of its list by itself. An element that fails gets its error and does not affect the others. */
export function itemsValidator(
  { name, items }: ItemList,
  validateBody: FastifyValidationResult,
  validateItem: ValidateFunction,
): FastifyValidationResult {
  const kinds = kindsOf(items);
  const result = (body: unknown) => {
    const outcome = validateBody(body);
    if (outcome !== true) return outcome;
    // The schema of the body requires an object with this list.
    const object = body as Record<string, unknown>;
    const elements = object[name] as unknown[];
    return { value: { ...object, [name]: elements.map((sent) => readItem(sent, validateItem, kinds)) } };
  };
  return result;
}

function readItem(sent: unknown, validate: ValidateFunction, kinds: string[]): Item<unknown> {
  if (validate(sent)) return { value: sent };
  const errors = toFieldErrors(validate.errors ?? [], kinds);
  return { sent, error: new ApiError('validation_failed', { errors }) };
}

/** Returns the values of the elements' discriminator, which Ajv's error does not contain. */
function kindsOf({ discriminator, oneOf }: Schema): string[] {
  // The contract's lint checks the types of these keywords' values.
  const tag = (discriminator as { propertyName?: string } | undefined)?.propertyName ?? '';
  const branches = (oneOf ?? []) as { properties?: Record<string, { const?: string }> }[];
  return branches.flatMap(({ properties }) => properties?.[tag]?.const ?? []);
}
