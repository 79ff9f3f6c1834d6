import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BOUND_KINDS, BOUNDS_OF } from '../../../generated/bounds.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { OperationId } from '../../../src/platform/contract/types.js';
import { worstJsonBodies, type WorstBody } from '../../support/attacks/worst-bodies.js';
import { worstForms } from '../../support/attacks/worst-forms.js';
import { worstLines } from '../../support/attacks/worst-lines.js';
import { makeCouriers, type Belongings } from '../../support/builders/couriers.js';
import { addressOf, mostPrivilegedCaller } from '../../support/builders/inputs.js';
import { rounds } from '../../support/harness/effort.js';
import { readWritten, type Written, type WrittenReader } from '../../support/readers/written.js';
import { bundle, operationIds, operationOf, parametersOf } from '../../support/service/contract.js';
import { startService, type Call, type Service } from '../../support/service/service.js';
import { CALLS } from '../authorization/calls.js';
import { rows as matrixRows } from '../authorization/matrix.js';

const KIB = 1024;
/** Larger bodies are sent in `npm run test:long`. */
const MAX_SENT = rounds(128, 16 * KIB) * KIB;
const LIMIT_MS = rounds(60_000, 600_000);

let service: Service;
let iex: Belongings;
let reader: WrittenReader;
/** The number of packages, the most that a selection by filters can name. */
let packages: number;

beforeAll(async () => {
  service = await startService();
  iex = (await makeCouriers(service.owner)).IEX;
  await service.owner.query(
    "update couriers set api_url_update_package = 'https://receiver.example.com/update'",
  );
  const { rows } = await service.owner.query<{ n: number }>('select count(*)::int as n from packages');
  packages = rows[0]?.n ?? 0;
  reader = await readWritten(service.owner);
});

afterAll(async () => {
  await service.stop();
});

const placesOf = (id: OperationId): string[] => {
  const { mediaTypes } = operationOf(id);
  return mediaTypes.length > 0 ? [...mediaTypes] : ['query'];
};

describe('the table of bounds', () => {
  test('has a bound for every operation and media type, and no other', () => {
    const expected = Object.fromEntries(operationIds.map((id) => [id, placesOf(id).sort()]));
    const named = Object.entries(BOUNDS_OF).map(([id, places]) => [id, Object.keys(places).sort()]);
    expect(Object.fromEntries(named)).toEqual(expected);
  });

  test('the contract publishes it', () => {
    const operations = Object.values(bundle.paths).flatMap((item) => Object.values(item as object));
    const published = operations
      // Every operation of the bundle has this form.
      .map((each) => each as { operationId?: string; 'x-bounds'?: Record<string, Record<string, unknown>> })
      .filter(({ operationId }) => operationId !== undefined)
      .map(({ operationId = '', 'x-bounds': bounds = {} }) => [operationId, Object.keys(bounds).sort()]);
    expect(Object.fromEntries(published)).toEqual(
      Object.fromEntries(operationIds.map((id) => [id, placesOf(id).sort()])),
    );
  });
});

/** A request, and how many items it names or selects. */
type Case = { title: string; call: Call; items: number };

const ACTIONS_ON_SELECTIONS = new Set(['dispatch', 'bill', 'recovery', 'manifest']);

function boundOf(id: OperationId, place: string, items: number): { rows: number; bytes: number } {
  const kind = BOUNDS_OF[id]?.[place];
  if (!kind) throw new Error(`${id} has no bound for ${place}.`);
  const { rows, kib, ...each } = { items: 0, item_rows: 0, item_bytes: 0, ...BOUND_KINDS[kind] };
  // The number of entries that are not chained yet depends on the worker, not on the request.
  const others = kind === 'chain' ? each.items : ACTIONS_ON_SELECTIONS.has(kind) ? packages : 0;
  const counted = Math.min(each.items, Math.max(items, others));
  return { rows: rows + counted * each.item_rows, bytes: kib * KIB + counted * each.item_bytes };
}

/** Returns the number of items in a body: the elements of its longest list, or its lines. */
function itemsIn({ contentType, bytes }: Omit<WorstBody, 'name'>): number {
  const text = bytes.toString('latin1');
  if (contentType !== 'application/json') return text.split('\n').length;
  return Math.max(0, ...(text.match(/\[[^[\]]*\]/g) ?? []).map((list) => list.split(',').length));
}

const bodies = (id: OperationId): WorstBody[] =>
  [
    ...worstJsonBodies(
      id,
      ({ type }) => [type].flat().includes('array'),
      () => false,
    ),
    ...worstForms(id),
    ...worstLines(id),
  ].filter(({ bytes }) => bytes.length <= MAX_SENT);

const placeOfType = (contentType: string) => contentType.split(';')[0] ?? '';

function worstCases(id: OperationId, place: string): Case[] {
  const caller = { ...mostPrivilegedCaller(id), ...addressOf(id) };
  if (place === 'query')
    return [{ title: 'long query', call: { ...caller, query: longQuery(id) }, items: 0 }];
  return bodies(id)
    .filter(({ contentType }) => placeOfType(contentType) === place)
    .map(({ name, contentType, bytes }) => ({
      title: name,
      call: { ...caller, body: bytes, headers: { 'content-type': contentType } },
      items: itemsIn({ contentType, bytes }),
    }));
}

/** Returns the longest text that each parameter of the query accepts. */
const longQuery = (id: OperationId): Record<string, string> =>
  Object.fromEntries(
    parametersOf(id, 'query')
      .filter(({ schema }) => schema['type'] === 'string' && !schema['enum'] && !schema['format'])
      .map(({ name, schema }) => [name, 'x'.repeat(Number(schema['maxLength'] ?? 100))]),
  );

/** Valid requests, which change something. */
async function validCases(id: OperationId, place: string): Promise<Case[]> {
  const found = matrixRows.filter(({ operation }) => operation === id);
  const cases: Case[] = [];
  for (const { title } of found) {
    const call = { ...(await CALLS[title](iex, iex, service)), ...mostPrivilegedCaller(id) };
    if (placeOf(call) === place || place === 'query') cases.push({ title, call, items: 10 });
  }
  return cases;
}

function placeOf({ form, urlencoded, headers }: Call): string {
  if (form) return 'multipart/form-data';
  if (urlencoded) return 'application/x-www-form-urlencoded';
  return headers?.['content-type'] ?? 'application/json';
}

const places = operationIds.flatMap((id) => placesOf(id).map((place) => [id, place] as const));

const measured: string[] = [];

describe('what one request writes', () => {
  test.each(places)(
    '%s with %s stays within its bound',
    async (id, place) => {
      const above: [string, Written, object][] = [];
      for (const { title, call, items } of [...(await validCases(id, place)), ...worstCases(id, place)]) {
        const keyed: Record<string, string> = operationOf(id).takesIdempotencyKey
          ? { 'idempotency-key': randomUUID() }
          : {};
        await service.app.callLog.flush();
        const mark = await reader.mark();
        const reply = await service.call(id, { ...call, headers: { ...call.headers, ...keyed } });
        expect([title, reply.status < 500 || reply.status === 503]).toEqual([title, true]);
        // The log of calls is written after the response.
        await service.app.callLog.flush();
        const written = await reader.since(mark);
        const bound = boundOf(id, place, items);
        if (written.rows > bound.rows || written.bytes > bound.bytes) above.push([title, written, bound]);
        measured.push(`${id} ${place}`);
      }
      expect(above).toEqual([]);
    },
    LIMIT_MS,
  );

  test('every operation and media type was measured', () => {
    const missing = places.map(([id, place]) => `${id} ${place}`).filter((each) => !measured.includes(each));
    expect(missing).toEqual([]);
  });
});

test('the reader sees rows that a request inserts and updates, and only those', async () => {
  const mark = await reader.mark();
  expect(await reader.since(mark)).toMatchObject({ rows: 0, bytes: 0 });
  const body = { courier_id: DEMO.couriers.IEX, user_code: 'WRITTEN', first_name: 'F', last_name: 'L' };
  expect((await service.call('createCustomer', { as: 'admin', body })).status).toBe(200);
  const { tables } = await reader.since(mark);
  expect(tables).toMatchObject({
    'public.customers': 1,
    'public.audit_entries': 1,
    'public.courier_quotas': 1,
  });
});
