import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperationId } from '../../src/platform/contract/types.js';
import type { Body } from '../support/service/contract.js';
import { startService, type Reply, type Service } from '../support/service/service.js';
import { FILTERS } from './filters.js';
import { ask, lists, readAll, recordsIn } from './lists.js';

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

test('every filter of every list is in the table, and nothing else is', () => {
  const missing = filters.filter(({ name }) => !FILTERS[name]).map(({ name }) => name);
  expect({ 'add to FILTERS in test/contract/filters.ts': missing }).toEqual({
    'add to FILTERS in test/contract/filters.ts': [],
  });
  const known = filters.map(({ name }) => name);
  expect(Object.keys(FILTERS).filter((name) => !known.includes(name))).toEqual([]);
});

const textsOf = (records: Body[]) => records.map((record) => JSON.stringify(record)).sort();

/** How many records there are, as each list says it; one that says nothing answers them. */
function totalIn(id: OperationId, reply: Reply): unknown {
  const { body } = reply;
  const meta = (body['meta'] ?? {}) as Body;
  const told = meta['total_records'] ?? meta['total_count'] ?? body['total'] ?? body['count'];
  return told ?? recordsIn(id, reply).length;
}

test.each(filters)('$name: keeps what it selects, and leaves out all else', async ({ id, field, name }) => {
  const make = FILTERS[name];
  if (typeof make !== 'function') return;
  const { value, keeps, beside = {} } = await make(await readAll(service, id, {}), service.owner);
  const all = await readAll(service, id, beside);
  const kept = all.filter(keeps);
  // a filter that keeps all or nothing would prove nothing
  expect(kept.length).toBeGreaterThan(0);
  expect(kept.length).toBeLessThan(all.length);
  const found = await readAll(service, id, { ...beside, [field]: value });
  expect(textsOf(found)).toEqual(textsOf(kept));
  // a list without pages counts what it answers
  const limit = lists.find((list) => list.id === id)?.hasPages ? 1 : kept.length;
  expect(totalIn(id, await ask(service, id, { ...beside, [field]: value, limit }))).toBe(kept.length);
});
