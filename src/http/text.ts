import parseContentType from 'content-type';
import secureJson from 'secure-json-parse';
import { Fault } from '../errors.js';

// Deeper than any body of the contract, far above what a stack or a validator would mind.
const MAX_DEPTH = 32;

/**
 * Reads a JSON body from its bytes. Strict where a lenient reader would store something else than was sent:
 * bytes that are not UTF-8, lone surrogates and NUL characters are refused, and so is `__proto__`.
 *
 * @throws Fault malformed_json or invalid_encoding
 */
export function parseJson(bytes: Buffer): unknown {
  const value = parse(decode(bytes));
  assertStorableText(value);
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Fault('invalid_encoding');
  }
}

function parse(text: string): unknown {
  try {
    return secureJson.parse(text, null, { protoAction: 'error', constructorAction: 'error' });
  } catch {
    throw new Fault('malformed_json');
  }
}

/**
 * @throws Fault invalid_encoding naming the field that holds text PostgreSQL cannot store as sent;
 *   malformed_json when the value is nested deeper than any body of the contract
 */
export function assertStorableText(root: unknown): void {
  // a list instead of recursion: 200,000 brackets must not overflow the stack
  const open: { value: unknown; field: string; depth: number }[] = [{ value: root, field: 'body', depth: 0 }];
  for (let node = open.pop(); node; node = open.pop()) {
    const { value, field, depth } = node;
    if (depth > MAX_DEPTH)
      throw new Fault('malformed_json', `Nest the body at most ${MAX_DEPTH} levels deep.`);
    if (typeof value === 'string' && !isStorable(value)) throw badText(field);
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      if (!isStorable(key)) throw badText(field);
      open.push({ value: child, field: childName(field, key, Array.isArray(value)), depth: depth + 1 });
    }
  }
}

const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

function childName(parent: string, key: string, isElement: boolean): string {
  if (isElement) return `${parent}[${key}]`;
  return parent === 'body' ? key : `${parent}.${key}`;
}

function badText(field: string): Fault {
  const message = `${field} must be well-formed UTF-8 without NUL characters.`;
  return new Fault('invalid_encoding', message, { errors: [{ field, code: 'encoding', message }] });
}

/** @throws Fault invalid_encoding when a query's escapes are broken or are not UTF-8 */
export function assertDecodableQuery(url: string): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!url.includes('?')) return;
  try {
    decodeURIComponent(query);
  } catch {
    throw new Fault('invalid_encoding', 'Percent-encode the query string as UTF-8.');
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
