import secureJson from 'secure-json-parse';
import { ApiError, fieldError } from '../../errors/errors.js';
import { assertJsonShape } from './json-shape.js';

/**
 * Parses a JSON body strictly: rejects invalid UTF-8, lone surrogates, NUL characters and the key `__proto__`, which a
 * lenient parser would silently change.
 *
 * @throws ApiError malformed_json, validation_failed or invalid_encoding
 */
export function parseJson(bytes: Buffer): unknown {
  assertJsonShape(bytes);
  const value = parse(decode(bytes));
  assertStorableText(value);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError('invalid_encoding');
  }
}

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch {
    if (SEVERAL_OBJECTS.test(text)) throw new ApiError('malformed_json', { variant: 'several_objects' });
    throw new ApiError('malformed_json');
  }
}

/** Lines, or lines that were joined. */
const SEVERAL_OBJECTS = /\}\s{0,9}\{/;

/** @throws ApiError invalid_encoding that names the first field with text that PostgreSQL cannot store */
export function assertStorableText(root: unknown): void {
  const keys = pathToBadText(root);
  if (keys) throw badText(nameOf(keys));
}

/**
 * Returns the path of the first text that cannot be stored, innermost key first, or undefined. The field's name is built
 * only for that path, because building it for each of 500,000 values took half a second. Recursion is safe: the depth of a
 * body is limited before parsing, and queries and forms are flat.
 */
function pathToBadText(value: unknown): (string | number)[] | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : [];
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return pathInList(value);
  for (const [key, child] of Object.entries(value)) {
    if (!isStorable(key)) return [];
    const path = pathToBadText(child);
    if (path) return [...path, key];
  }
  return undefined;
}

function pathInList(list: unknown[]): (string | number)[] | undefined {
  for (const [index, child] of list.entries()) {
    const path = pathToBadText(child);
    if (path) return [...path, index];
  }
  return undefined;
}

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

/** Returns a path as text, for example `rates[3].fee`; `body` for the root. */
function nameOf(path: (string | number)[]): string {
  const name = path.reduceRight<string>(
    (parent, key) =>
      typeof key === 'number' ? `${parent || 'body'}[${key}]` : parent ? `${parent}.${key}` : key,
    '',
  );
  return name || 'body';
}

function badText(field: string): ApiError {
  return new ApiError('invalid_encoding', { variant: 'field', errors: [fieldError(field, 'encoding')] });
}

/** @throws ApiError invalid_encoding when a query's percent-encoding is malformed or is not UTF-8 */
export function assertDecodableQuery(url: string): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!url.includes('?')) return;
  try {
    decodeURIComponent(query);
  } catch {
    throw new ApiError('invalid_encoding', { variant: 'query' });
  }
}
