import parseContentType from 'content-type';
import secureJson from 'secure-json-parse';
import { ApiError, fieldError } from '../../errors/errors.js';
import { assertJsonShape } from './json-shape.js';

/**
 * Reads a JSON body from its bytes. Strict where a lenient reader would store something else than was sent:
 * bytes that are not UTF-8, lone surrogates and NUL characters are refused, and so is `__proto__`.
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
    throw new ApiError('malformed_json');
  }
}

/** @throws ApiError invalid_encoding naming the field that holds text PostgreSQL cannot store as sent */
export function assertStorableText(root: unknown): void {
  const keys = pathToBadText(root);
  if (keys) throw badText(nameOf(keys));
}

/**
 * The keys that lead to the text, the outermost last; undefined when all text can be stored. The name of a field is
 * made of them only when there is one to name: a name for each of 500,000 values took half a second. Recursion is safe
 * because the depth is bounded before a body is parsed, and queries and forms are flat.
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

/** `rates[3].fee`; `body` for the root. */
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

/** @throws ApiError invalid_encoding when a query's escapes are broken or are not UTF-8 */
export function assertDecodableQuery(url: string): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!url.includes('?')) return;
  try {
    decodeURIComponent(query);
  } catch {
    throw new ApiError('invalid_encoding', { variant: 'query' });
  }
}

/** The media type of a Content-Type header in lower case, or undefined when it is malformed or not in UTF-8. */
export function mediaTypeOf(header: string): string | undefined {
  try {
    const { type, parameters } = parseContentType.parse(header);
    const charset = parameters['charset']?.toLowerCase() ?? 'utf-8';
    return charset === 'utf-8' || charset === 'utf8' ? type : undefined;
  } catch {
    return undefined;
  }
}
