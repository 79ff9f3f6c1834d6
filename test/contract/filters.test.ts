import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperationId } from '../../src/platform/contract/types.js';
import type { Body } from '../support/service/contract.js';
import { startService, type Reply, type Service } from '../support/service/service.js';
import { FILTERS } from './filters.js';
import { listOf, requestList, lists, readAll, recordsIn, type Values } from './lists.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(async () => {
  await service.stop();
});

const filters = lists.flatMap(({ id, filters: fields }) =>
  fields.map((field) => ({ id, field, name: `${id} ${field}` })),
);

test('the FILTERS table lists every filter of every list and nothing else', () => {
  const missing = filters.filter(({ name }) => !FILTERS[name]).map(({ name }) => name);
  expect({ 'add to FILTERS in test/contract/filters.ts': missing }).toEqual({
    'add to FILTERS in test/contract/filters.ts': [],
  });
  const known = filters.map(({ name }) => name);
  expect(Object.keys(FILTERS).filter((name) => !known.includes(name))).toEqual([]);
});

const wholeLists = new Map<string, Promise<Body[]>>();

/** Returns all records that the parameters select. Files take long to make, and no filter of theirs needs another record. */
function readWhole(id: OperationId, params: Values): Promise<Body[]> {
  if (!listOf(id).isFile) return readAll(service, id, params);
  const key = JSON.stringify([id, params]);
  const records = wholeLists.get(key) ?? readAll(service, id, params);
  wholeLists.set(key, records);
  return records;
}

const textsOf = (records: Body[]) => records.map((record) => JSON.stringify(record)).sort();

/**
 * Returns the number of records that the list reports; without such a field, the number of records returned.
 */
function totalIn(id: OperationId, reply: Reply): unknown {
  const { body } = reply;
  const meta = (body['meta'] ?? {}) as Body;
  const reported = meta['total_records'] ?? meta['total_count'] ?? body['total'] ?? body['count'];
  return reported ?? recordsIn(id, reply).length;
}

// The others are no filters, for the reason in the table.
const tested = filters.flatMap((filter) => {
  const make = FILTERS[filter.name];
  return typeof make === 'function' ? { ...filter, make } : [];
});

test.each(tested)('$name returns exactly the matching records', async ({ id, field, make }) => {
  const { value, matches, extraParams = {} } = await make(await readWhole(id, {}), service.owner);
  const all = await readWhole(id, extraParams);
  const expected = all.filter(matches);
  // A filter that matches all records or none would prove nothing.
  expect(expected.length).toBeGreaterThan(0);
  expect(expected.length).toBeLessThan(all.length);
  const found = await readAll(service, id, { ...extraParams, [field]: value });
  expect(textsOf(found)).toEqual(textsOf(expected));
  // A list without pages reports the number of records returned, and a file reports none.
  const { hasPages, isFile } = listOf(id);
  const limit = hasPages && !isFile ? 1 : expected.length;
  expect(totalIn(id, await requestList(service, id, { ...extraParams, [field]: value, limit }))).toBe(
    expected.length,
  );
});
