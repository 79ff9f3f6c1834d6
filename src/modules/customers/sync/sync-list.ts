// Our own, not stream-json: that takes 17 s of CPU for 100,000 records (13 MB), and this 0.2 s.
/**
 * Thrown if a response cannot be read. The message is for the courier's developers and contains no part of
 * the response.
 */
export class SyncResponseError extends Error {
  constructor(
    readonly reason: UnreadableReason,
    message: string,
  ) {
    super(message);
  }
}

/** Why a response cannot be read. The names are those of the diagnoses of a check (openapi/diagnoses.yaml). */
export type UnreadableReason =
  | 'not_a_list'
  | 'html_instead_of_list'
  | 'not_json'
  | 'not_utf8'
  | 'compressed'
  | 'list_too_large';

/** A response with more records is rejected. */
const MAX_RECORDS = 100_000;
const MAX_DEPTH = 32;
/** The maximum size of one record, and of one field outside the list. */
const MAX_PART_CHARS = 64 * 1024;

const LIST_NAMES = new Set(['data', 'customers', 'results', 'items', 'records']);

const SHAPE =
  'a JSON array of customers, or an object with one array, called data, customers, results, items or records';

/**
 * Passes the records of a response to `take`, one after another. Each record is measured first and then
 * parsed alone, so that 20 MiB of brackets or one huge record allocate nothing. A record that is too large is
 * passed as `undefined`. Returns the other fields of the object around the list, or null without one.
 * @throws SyncResponseError
 */
export function readList(text: string, take: Take): Wrapper | null {
  // Without a prototype, which a field could replace.
  const wrapper = Object.create(null) as Wrapper;
  let at = skipSpace(text, 0);
  const isWrapped = text[at] === '{';
  if (at === text.length)
    throw new SyncResponseError('not_json', `The response is empty. Respond with ${SHAPE}.`);
  if (text[at] === '<')
    throw new SyncResponseError(
      'html_instead_of_list',
      `The response is in HTML or XML. Respond with ${SHAPE}.`,
    );
  if (isWrapped) at = readObject(text, at, { take, wrapper });
  else if (text[at] === '[') at = readElements(text, at, take);
  else throw new SyncResponseError('not_a_list', `Respond with ${SHAPE}.`);
  if (skipSpace(text, at) < text.length) throw broken(at);
  return isWrapped ? wrapper : null;
}

/** The fields of an object beside the list, by their names. */
export type Wrapper = Record<string, unknown>;
type Take = (record: unknown, index: number) => void;

/** Returns the position after the list whose bracket is at `open`. */
function readElements(text: string, open: number, take: Take): number {
  let at = skipSpace(text, open + 1);
  if (text[at] === ']') return at + 1;
  for (let index = 0; ; index += 1) {
    if (index === MAX_RECORDS)
      throw new SyncResponseError(
        'list_too_large',
        `The response has more than ${MAX_RECORDS} records. Send fewer.`,
      );
    const end = endOfValue(text, at);
    take(end - at > MAX_PART_CHARS ? undefined : parsePart(text, at, end), index);
    at = skipSpace(text, end);
    if (text[at] === ']') return at + 1;
    if (text[at] !== ',') throw broken(at);
    at = skipSpace(text, at + 1);
  }
}

/** The same for an object that contains the list. */
function readObject(text: string, open: number, { take, wrapper }: { take: Take; wrapper: Wrapper }): number {
  const lists: { name: unknown; at: number }[] = [];
  let at = skipSpace(text, open + 1);
  for (let isFirst = true; isFirst ? text[at] !== '}' : text[at] === ','; isFirst = false) {
    if (!isFirst) at = skipSpace(text, at + 1);
    const endOfName = endOfValue(text, at);
    const name = text[at] === '"' ? parsePart(text, at, endOfName) : undefined;
    const colon = skipSpace(text, endOfName);
    if (name === undefined || text[colon] !== ':') throw broken(at);
    const value = skipSpace(text, colon + 1);
    const end = endOfValue(text, value);
    if (text[value] === '[') lists.push({ name, at: value });
    else if (end - value > MAX_PART_CHARS)
      throw new SyncResponseError(
        'not_a_list',
        `Respond with ${SHAPE}. Other fields of the object must be small.`,
      );
    else keep(wrapper, name, parsePart(text, value, end));
    at = skipSpace(text, end);
  }
  if (text[at] !== '}') throw broken(at);
  const [list, second] = lists;
  if (!list || second || !LIST_NAMES.has(plainName(String(list.name))))
    throw new SyncResponseError('not_a_list', `Respond with ${SHAPE}.`);
  readElements(text, list.at, take);
  return at + 1;
}

/** Keeps the first fields only: an object of 20 MiB may have a million. */
function keep(wrapper: Wrapper, name: unknown, value: unknown): void {
  if (Object.keys(wrapper).length < MAX_WRAPPER_FIELDS) wrapper[String(name)] = value;
}

const MAX_WRAPPER_FIELDS = 20;

/** Normalises a field's name: `User_Code`, `user-code` and `userCode` are equal. */
export const plainName = (name: string): string => name.toLowerCase().replace(/[_\-\s]/g, '');

function parsePart(text: string, from: number, to: number): unknown {
  try {
    // JSON.parse creates an ordinary property for the key `__proto__`, and no code copies it.
    return JSON.parse(text.slice(from, to)) as unknown;
  } catch {
    throw broken(from);
  }
}

const broken = (at: number) =>
  new SyncResponseError(
    'not_json',
    `The response is not well-formed JSON, or it is incomplete. The problem is at character ${at + 1}.`,
  );

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isSpace = (code: number) => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
const isOpening = (code: number) => code === 0x5b || code === 0x7b;
const isClosing = (code: number) => code === 0x5d || code === 0x7d;

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/**
 * Returns the position after the value that begins at `from`. Looks only at quotes and brackets; JSON.parse
 * validates the value.
 */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (isOpening(code)) depth += 1;
    else if (isClosing(code)) depth -= 1;
    else if (depth > 0) continue;
    else if (isSpace(code) || code === 0x2c || code === 0x3a) return at;
    else continue;
    if (depth > MAX_DEPTH)
      throw new SyncResponseError(
        'not_a_list',
        `The response is nested deeper than ${MAX_DEPTH} levels. Respond with ${SHAPE}.`,
      );
    // An extra closing bracket belongs to the surrounding value.
    if (depth < 0) return at;
    if (depth === 0) return at + 1;
  }
  return text.length;
}

/** Returns the position of the quote that ends the string which begins at `open`. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
