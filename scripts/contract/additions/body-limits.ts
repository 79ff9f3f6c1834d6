import { operationsOf, resolve, type Contract, type Schema } from '../document/openapi.js';

const KIB = 1024;
const FLOOR = 64 * KIB;
const CEILING = 1024 * KIB;

/** For white space and for unknown keys, which are ignored. */
const ROOM = 16 * KIB;
const ROOM_PER_VALUE = 16;

/** `\ud83d\ude00` is the longest notation of one character in JSON. */
const BYTES_PER_CHARACTER = 12;

/**
 * Adds `x-max-body-bytes` to every request body of a bundled contract: the smallest power of two, between 64
 * KiB and 1 MiB, that fits every body allowed by the schema. A contract may state its own limit instead, of the whole
 * body or of one media type. Forms with files have limits per file.
 */
export function addBodyLimits(bundle: Contract): Contract {
  for (const { operation } of operationsOf(bundle.paths)) {
    const { requestBody } = operation;
    if (!requestBody || requestBody['x-max-body-bytes']) continue;
    const media = Object.entries(requestBody.content).filter(
      ([type, { 'x-max-body-bytes': own }]) => type !== 'multipart/form-data' && own === undefined,
    );
    if (media.length === 0) continue;
    const needed = Math.max(...media.map(([, { schema }]) => bytesOf(bundle, schema)));
    requestBody['x-max-body-bytes'] = Math.min(CEILING, Math.max(FLOOR, powerOfTwo(needed + ROOM)));
  }
  return bundle;
}

const powerOfTwo = (bytes: number) => 2 ** Math.ceil(Math.log2(bytes));

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

/** Returns the size of the largest JSON value that a schema allows, in bytes. */
function bytesOf(bundle: Contract, written: Schema): number {
  const schema = resolve(bundle, written);
  const { oneOf = [], anyOf = [], allOf = [], properties = {} } = schema;
  const branches = [...oneOf, ...anyOf].map((branch) => bytesOf(bundle, branch));
  const parts = allOf.map((part) => bytesOf(bundle, part));
  const fields = Object.entries(properties).map(
    ([name, own]) => name.length + ROOM_PER_VALUE + bytesOf(bundle, own),
  );
  return Math.max(0, ...branches) + sum(parts) + sum(fields) + ownBytesOf(bundle, schema);
}

function ownBytesOf(
  bundle: Contract,
  { type, format = '', maxLength, maxItems, items = {}, enum: values, const: value }: Schema,
): number {
  const types = [type].flat();
  if (types.includes('array')) {
    if (maxItems === undefined) throw new Error('A list of a request body needs maxItems.');
    return maxItems * (bytesOf(bundle, items) + ROOM_PER_VALUE);
  }
  if (!types.includes('string')) return 32;
  const known = values ?? (value === undefined ? FIXED[format] && [FIXED[format]] : [value]);
  // Text in a fixed format without a limit, such as a date-time, is short.
  const characters = known ? Math.max(...known.map((each) => String(each).length)) : (maxLength ?? 100);
  return 2 + characters * (known ? 1 : BYTES_PER_CHARACTER);
}

/** Clients do not escape the characters of these formats. */
const FIXED: Record<string, string> = {
  uuid: '01930a3e-7c1d-7e11-9c5a-000000000001',
  date: '2026-11-21',
};
