import fc from 'fast-check';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { METHODS } from '../../support/service/contract.js';
import type { FuzzCaller, FuzzRequest, Plan } from './requests.js';
import { WEIRD } from './values.js';
import { HOSTILE } from './files.js';

/** One way to mutate a request: its values or its bytes. */
export type Mutation =
  | { of: 'value'; how: 'set' | 'remove' | 'wrap'; at: number; value: unknown }
  | { of: 'key'; key: string; value: unknown }
  | { of: 'body'; value: unknown }
  | { of: 'mediaType'; value: string }
  | { of: 'file'; at: number; file: number }
  | { of: 'query'; how: 'set' | 'repeat' | 'remove'; at: number; value: string }
  | { of: 'parameter'; name: string; value: string }
  | { of: 'caller'; value: FuzzCaller }
  | { of: 'method'; value: string }
  | { of: 'header'; name: string; value: string }
  | { of: 'bytes'; how: 'cut' | 'insert' | 'double'; at: number; bytes: string }
  | { of: 'target'; text: string };

/** An object without a method toString, or with another value of that name, has no text of its own. */
function textOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return JSON.stringify(value);
  }
}

const KEYS = [
  ...['tenant_id', 'courier_id', 'courierId', 'role', 'status', 'api_key', 'id', 'action', 'limit', '$where'],
  ...['constructor', 'prototype', 'toString', '', ' ', 'a.b', 'a[b]', '😀', '\u0000', '\ud800', '__proto__'],
];

const HEADERS: [name: string, value: string][] = [
  ['content-type', ''],
  ['content-type', 'application/json; charset=utf-16'],
  ['content-type', 'application/json;charset="UTF-8"'],
  ['content-type', 'APPLICATION/JSON'],
  ['content-type', 'application/json\t; a=b'],
  ['content-type', 'application/json, text/plain'],
  ['content-type', 'application/problem+json'],
  ['content-type', 'multipart/form-data'],
  ['content-type', 'multipart/form-data; boundary='],
  ['content-type', 'text/plain'],
  ['content-encoding', 'gzip'],
  ['content-encoding', 'identity'],
  ['accept', 'text/html;q=0.1, */*;q=0'],
  ['accept-encoding', 'br, gzip'],
  ['authorization', 'Bearer'],
  ['authorization', 'bearer x.y.z'],
  ['authorization', 'Basic YWRtaW46YWRtaW4='],
  ['authorization', `Bearer ${'a'.repeat(2_000)}`],
  ['authorization', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
  ['x-api-key', 'x'],
  ['x-api-key', DEMO.apiKeys.IEX.toUpperCase()],
  ['x-api-key', '\u00ff\u00fe'],
  ['host', 'two.localhost'],
  ['host', 'nowhere.example'],
  ['host', 'TWO.LOCALHOST:80'],
  ['host', '[::1]:3000'],
  ['x-forwarded-host', 'two.localhost'],
  ['x-forwarded-proto', 'gopher'],
  ['x-forwarded-for', '127.0.0.1, unknown'],
  ['x-http-method-override', 'DELETE'],
  ['x-request-id', '../../x'],
  ['cookie', '__proto__=1; session=x'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['if-modified-since', 'yesterday'],
  ['origin', 'null'],
  ['x-thing', '\u0080\u00ff'],
  ['accept-language', 'x'.repeat(3_000)],
];

const TARGETS = [
  ...['?', '&', '?%zz', '&%ff=1', '&a[b]=c', '&__proto__=1', '&__proto__[limit]=7', '&constructor=1'],
  ...['&x=%00', '&api_key=x', '&limit=1&limit=2', '&page=1e20', '/', '//', '%2f', ';a=b', '&=&=&='],
  `&q=${'x'.repeat(7_000)}`,
];

const nat = fc.nat({ max: 1_000 });

/** Mutations, weighted towards those that reach the deepest code. */
export const MUTATION: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      of: fc.constant('value' as const),
      how: fc.constantFrom('set' as const, 'set' as const, 'remove' as const, 'wrap' as const),
      at: nat,
      value: WEIRD,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ of: fc.constant('key' as const), key: fc.constantFrom(...KEYS), value: WEIRD }),
  },
  { weight: 1, arbitrary: fc.record({ of: fc.constant('body' as const), value: WEIRD }) },
  {
    weight: 1,
    arbitrary: fc.record({
      of: fc.constant('mediaType' as const),
      value: fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ of: fc.constant('file' as const), at: nat, file: nat }) },
  {
    weight: 4,
    arbitrary: fc.record({
      of: fc.constant('query' as const),
      how: fc.constantFrom('set' as const, 'set' as const, 'repeat' as const, 'remove' as const),
      at: nat,
      value: WEIRD.map(textOf),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      of: fc.constant('parameter' as const),
      name: fc.constantFrom(...KEYS),
      value: WEIRD.map(textOf),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      of: fc.constant('caller' as const),
      value: fc.constantFrom<FuzzCaller[]>('nobody', 'disabled', 'iex', 'two/two', 'key IEX', 'key TWO'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ of: fc.constant('method' as const), value: fc.constantFrom(...METHODS) }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(...HEADERS).map(([name, value]) => ({ of: 'header' as const, name, value })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      of: fc.constant('bytes' as const),
      how: fc.constantFrom('cut' as const, 'insert' as const, 'double' as const),
      at: nat,
      bytes: fc.constantFrom(
        ...[
          '00',
          'ff',
          'c328',
          'edA080',
          'efbbbf',
          '7b',
          '5d',
          '22',
          '2c',
          '0d0a',
          '5c7564383030',
          '2f2a2a2f',
        ],
        ...['4e614e', '2d2d', '5b'.repeat(40), '5b'.repeat(5_000), '22616374696f6e223a2278222c'],
      ),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom(...TARGETS).map((text) => ({ of: 'target' as const, text })) },
);

type Draft = { plan: Plan; encode(plan: Plan): FuzzRequest };

/** Mutates the values, encodes them, and then mutates the bytes. */
export function mutate({ plan, encode }: Draft, mutations: Mutation[]): FuzzRequest {
  for (const mutation of mutations) mutatePlan(plan, mutation);
  const request = encode(plan);
  for (const mutation of mutations) mutateBytes(request, mutation);
  return request;
}

function mutatePlan(plan: Plan, mutation: Mutation): void {
  switch (mutation.of) {
    case 'value':
      mutateValue(plan, mutation);
      return;
    case 'key':
      // Assigning would set the prototype; __proto__ must become a key.
      if (isRecord(plan.body))
        Object.defineProperty(plan.body, mutation.key, {
          value: structuredClone(mutation.value),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      return;
    case 'body':
      // A copy: further mutations change the body, and the value belongs to all requests.
      if (plan.mediaType) plan.body = structuredClone(mutation.value);
      return;
    case 'mediaType':
      if (plan.mediaType) plan.mediaType = mutation.value;
      return;
    case 'file': {
      const slots = slotsIn(plan.body).filter(({ parent, key }) => isRecord(parent[key]));
      const slot = slots[mutation.at % Math.max(1, slots.length)];
      if (slot) slot.parent[slot.key] = HOSTILE[mutation.file % HOSTILE.length];
      return;
    }
    case 'query':
      mutateQuery(plan, mutation);
      return;
    case 'parameter':
      plan.query.push([mutation.name, mutation.value]);
      return;
    case 'caller':
      plan.caller = mutation.value;
      return;
    case 'method':
      plan.method = mutation.value;
      return;
    default:
      return;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Slot = { parent: Record<string, unknown>; key: string };

/** Returns every property in a value that can be replaced. */
function slotsIn(value: unknown): Slot[] {
  if (typeof value !== 'object' || value === null) return [];
  // An array's elements are values of its index keys.
  const parent = value as Record<string, unknown>;
  return Object.keys(value).flatMap((key) => [{ parent, key }, ...slotsIn(parent[key])]);
}

function mutateValue({ body }: Plan, { how, at, value }: Mutation & { of: 'value' }): void {
  const slots = slotsIn(body);
  const slot = slots[at % Math.max(1, slots.length)];
  if (!slot) return;
  const { parent, key } = slot;
  if (how === 'remove') delete parent[key];
  // A copy, because inserting the same value twice could make it contain itself.
  else parent[key] = how === 'wrap' ? [parent[key]] : structuredClone(value);
}

function mutateQuery({ query }: Plan, { how, at, value }: Mutation & { of: 'query' }): void {
  const index = at % Math.max(1, query.length);
  const [name] = query[index] ?? [];
  if (name === undefined) return;
  if (how === 'remove') query.splice(index, 1);
  else if (how === 'repeat') query.push([name, value]);
  else query[index] = [name, value];
}

function mutateBytes(request: FuzzRequest, mutation: Mutation): void {
  if (mutation.of === 'header') {
    const others = request.headers.filter(([name]) => name !== mutation.name);
    request.headers = [...others, [mutation.name, mutation.value]];
  }
  if (mutation.of === 'target') request.target += mutation.text;
  if (mutation.of === 'bytes' && request.body) request.body = corrupt(request.body, mutation);
}

/** Cuts, doubles or inserts at `at` thousandths of the body's length. */
export function corrupt(body: Buffer, { how, at, bytes }: Omit<Mutation & { of: 'bytes' }, 'of'>): Buffer {
  const position = Math.floor((body.length * at) / 1_000);
  const [head, tail] = [body.subarray(0, position), body.subarray(position)];
  if (how === 'cut') return head;
  return Buffer.concat([head, how === 'double' ? tail : Buffer.from(bytes, 'hex'), tail]);
}
