import type { Options, ValidateFunction } from 'ajv';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifyRouteSchemaDef, FastifyValidationResult } from 'fastify/types/schema.js';
import type { Schema } from './bundle.js';
import { itemListOf, itemsValidator } from './item-lists.js';
import {
  isMultipleOf,
  lowerCaseUuid,
  MISSPELLED_KEYWORD,
  misspelledKeyword,
  textKeyword,
  UUID,
} from './keywords.js';

// Fastify sets contentType for a body with several media types, but its type omits it.
type RouteSchema = FastifyRouteSchemaDef<Schema> & { contentType?: string };

/**
 * Returns a validator compiler that compiles each request schema on first use. Compiling all of them takes half of the
 * start-up time, and most processes use only a few.
 */
export function makeValidatorCompiler(): (route: RouteSchema) => FastifyValidationResult {
  const compile = makeEagerCompiler();
  return (route) => {
    let validate: FastifyValidationResult | undefined;
    const result = (data: unknown) => {
      validate ??= compile(route);
      return validate(data);
    };
    return result;
  };
}

/**
 * Returns a validator compiler that compiles immediately. JSON bodies are not coerced: a number sent as a string is
 * rejected. A query or form contains only text, so exact spellings of integers and booleans are converted, and the schema
 * rejects any other text.
 */
export function makeEagerCompiler(): (route: RouteSchema) => FastifyValidationResult {
  // Loading the schema of schemas takes longer than the rest.
  const ajv = makeAjv({ meta: false });
  ajv.addKeyword(lowerCaseUuid);
  ajv.addKeyword(textKeyword);
  ajv.addKeyword(misspelledKeyword);
  return ({ schema, httpPart, contentType }) => {
    const list = itemListOf(schema);
    if (list) {
      const validateBody = bodyValidator(list.body, ajv.compile(mark(list.body)));
      return itemsValidator(list, validateBody, ajv.compile(mark(list.items)));
    }
    const validate = ajv.compile(mark(schema));
    if (httpPart === 'headers') return headerValidator(schema, validate);
    const isText = httpPart === 'querystring' || FORM_TYPES.has(contentType ?? '');
    if (!isText) return bodyValidator(schema, validate);
    const read = textReader(schema);
    const result = (fields: Record<string, unknown>) => {
      const value = read(fields);
      return validate(value) ? { value } : { error: toError(validate.errors ?? []) };
    };
    return result;
  };
}

/**
 * Checks the length of arrays before it runs Ajv, which reports every error of every element: 25,000 empty tiers, where 500
 * are allowed, took 85 ms.
 */
function bodyValidator(schema: Schema, validate: ValidateFunction): FastifyValidationResult {
  const limits = listLimits(schema);
  const result = (body: unknown) => {
    const error = findLongList(limits, body);
    if (error) return { error: toError([error]) };
    return validate(body) || { error: toError(validate.errors ?? []) };
  };
  return result;
}

/** Returns the maximum length of each top-level array of a body; with `oneOf`, the largest of the branches. */
function listLimits(schema: Schema): [name: string, limit: number][] {
  // JSON Schema defines the types of these keywords' values.
  const shapes = (schema['oneOf'] ?? [schema]) as { properties?: Record<string, { maxItems?: number }> }[];
  const limits = new Map<string, number>();
  for (const { properties = {} } of shapes) {
    for (const [name, { maxItems }] of Object.entries(properties))
      if (maxItems !== undefined) limits.set(name, Math.max(maxItems, limits.get(name) ?? 0));
  }
  return [...limits];
}

function findLongList(limits: [name: string, limit: number][], body: unknown): ErrorObject | undefined {
  if (limits.length === 0 || typeof body !== 'object' || body === null) return undefined;
  for (const [name, limit] of limits) {
    // Any object may have the key; the next line checks the value's type.
    const list = (body as Record<string, unknown>)[name];
    if (Array.isArray(list) && list.length > limit)
      return { instancePath: `/${name}`, schemaPath: '', keyword: 'maxItems', params: { limit } };
  }
  return undefined;
}

/** Maps Node's lower-case header names to the contract's spelling. The contract requires no header. */
function headerValidator(schema: Schema, validate: ValidateFunction): FastifyValidationResult {
  const names = Object.keys(schema['properties'] ?? {}).map((name) => [name, name.toLowerCase()] as const);
  return (headers: Record<string, unknown>) => {
    const given = names.filter(([, key]) => headers[key] !== undefined);
    if (given.length === 0) return true;
    const named = Object.fromEntries(given.map(([name, key]) => [name, headers[key]]));
    return validate(named) ? true : { error: toError(validate.errors ?? []) };
  };
}

const FORM_TYPES = new Set(['application/x-www-form-urlencoded', 'multipart/form-data']);

/** Returns Ajv configured for the contract: the dialect of OpenAPI 3.1, existing calendar dates, UUIDs without a prefix. */
export function makeAjv(options: Options = {}): Ajv2020 {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    useDefaults: true,
    discriminator: true,
    // Validators are compiled at each start; optimising their code takes longer than it saves.
    code: { optimize: false },
    // The contract's lint and test/contract/examples.test.ts validate the schemas themselves.
    validateSchema: false,
    ...options,
  });
  ajv.removeKeyword('multipleOf');
  ajv.addKeyword({ keyword: 'multipleOf', type: 'number', schemaType: 'number', validate: isMultipleOf });
  addFormats.default(ajv, ['uri', 'uri-reference', 'email']);
  ajv.addFormat('date', isCalendarDate);
  ajv.addFormat('uuid', UUID);
  for (const format of ['password', 'int32', 'int64', 'float', 'double', 'binary'])
    ajv.addFormat(format, true);
  return ajv;
}

/** Returns the schema with that keyword added wherever it has `format: uuid`, and with the declared names of each object. */
function mark<Part>(part: Part): Part {
  if (typeof part !== 'object' || part === null) return part;
  // A copy has the same shape as its original.
  if (Array.isArray(part)) return part.map(mark) as Part;
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, mark(value)]));
  if (copy['format'] === 'uuid') return { ...copy, 'x-lower-case-uuid': true } as Part;
  if (!isObjectSchema(copy) || !copy['x-refuses-misspelling']) return copy as Part;
  return { ...copy, [MISSPELLED_KEYWORD]: Object.keys(copy.properties) } as Part;
}

type ObjectSchema = { type: 'object'; properties: object; [keyword: string]: unknown };

/** A property of an object may itself have the name `properties`. */
const isObjectSchema = (part: Record<string, unknown>): part is ObjectSchema =>
  part['type'] === 'object' && typeof part['properties'] === 'object';

/** Returns whether a text is an existing date as YYYY-MM-DD. Year 0 is rejected because PostgreSQL has none. */
/** Returns whether the text is an existing date and time in the format `YYYY-MM-DD HH:MM:SS`. */
export const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /^(?:[01]\d|2[0-3])(?::[0-5]\d){2}$/.test(text.slice(11));

export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)?.map(Number) ?? [];
  if (!year || !month || !day) return false;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** Clients that are generated for Python send `True` and `False` in forms. */
const BOOLEANS: Record<string, boolean> = {
  true: true,
  True: true,
  '1': true,
  false: false,
  False: false,
  '0': false,
};

const READERS: Record<string, (text: string) => unknown> = {
  integer: (text) => (/^-?\d{1,15}$/.test(text) ? Number(text) : text),
  boolean: (text) => BOOLEANS[text] ?? text,
};

function textReader(schema: Schema): (fields: Record<string, unknown>) => Record<string, unknown> {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Schema>);
  return (fields) => {
    const value = { ...fields };
    for (const [name, { type }] of properties) {
      const read = READERS[String(type)];
      const given = fields[name];
      if (read && typeof given === 'string') value[name] = read(given);
    }
    return value;
  };
}

const toError = (errors: ErrorObject[]) => Object.assign(new Error('invalid input'), { validation: errors });
