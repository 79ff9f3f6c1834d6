import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OperationId } from '../../src/platform/contract/types.js';
import { rounds } from '../support/harness/effort.js';
import type { Body } from '../support/service/contract.js';
import { insertCouriers, insertLocations, insertManifests } from '../support/builders/register.js';
import { startService, type Service } from '../support/service/service.js';
import { insertUsers } from '../support/builders/users.js';
import { listOf, lists, readAll, type Values } from './lists.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await insertUsers(service.owner, 30);
  await insertCouriers(service.owner);
  await insertManifests(service.owner);
  await insertLocations(service.owner);
});

afterAll(async () => {
  await service.stop();
});

/** Returns a number of records per page that makes several pages: three, or in the long run many. */
const pageSizeOf = (id: OperationId, count: number) =>
  Math.min(listOf(id).maxLimit, rounds(Math.ceil(count / 3), 7));

const wholeLists = new Map<string, Promise<Body[]>>();

/** Returns all records in the largest pages. No test changes a record, so each list is read once. */
function readWhole(id: OperationId, order: Values): Promise<Body[]> {
  const key = JSON.stringify([id, order]);
  const records = wholeLists.get(key) ?? readAll(service, id, order);
  wholeLists.set(key, records);
  return records;
}

const sorts = lists.flatMap(({ id, sorts: fields }) =>
  fields.flatMap((field) => (['ASC', 'DESC'] as const).map((direction) => ({ id, field, direction }))),
);

test.each(sorts)(
  '$id by $field, $direction, returns every record once, in the same order for every page size',
  async ({ id, field, direction }) => {
    const order = { sort_by: field, sort_dir: direction };
    const [all, unsorted] = [await readWhole(id, order), await readWhole(id, {})];
    expect(all.length).toBeGreaterThan(20);
    expect(all.filter((record) => !(field in record))).toEqual([]);
    expect(textsOf(all).sort()).toEqual(textsOf(unsorted).sort());
    expect(new Set(textsOf(all)).size).toBe(all.length);
    expect(
      await findDisorder(
        all.map((record) => record[field]),
        direction,
      ),
    ).toBe('');
    // Ties are broken the same way each time.
    expect(textsOf(await readAll(service, id, order, pageSizeOf(id, all.length)))).toEqual(textsOf(all));
  },
  60_000,
);

test.each([...new Set(sorts.map(({ id }) => id))])(
  '%s: descending order is the reverse of ascending order',
  async (id) => {
    for (const { field } of sorts.filter((sort) => sort.id === id && sort.direction === 'ASC')) {
      const up = await readWhole(id, { sort_by: field, sort_dir: 'ASC' });
      const down = await readWhole(id, { sort_by: field, sort_dir: 'DESC' });
      expect([field, down.map((record) => record[field])]).toEqual([
        field,
        up.map((record) => record[field]).reverse(),
      ]);
    }
  },
);

const textsOf = (records: Body[]) => records.map((record) => JSON.stringify(record));

/**
 * Returns where values are out of order. Nulls must be together at one end; PostgreSQL's collation compares
 * texts.
 */
async function findDisorder(values: unknown[], direction: 'ASC' | 'DESC'): Promise<string> {
  const ends = [values.findIndex((value) => value !== null), values.findLastIndex((value) => value !== null)];
  const inner = values.slice(ends[0], (ends[1] ?? 0) + 1);
  if (inner.includes(null)) return 'null stands between other values';
  const type = typeof inner[0] === 'number' ? 'numeric' : 'text';
  const { rows } = await service.owner.query<{ disorder: string }>(
    `select format('%s before %s', before, value) as disorder from (
       select value, lag(value) over (order by position) as before from unnest($1::${type}[]) with ordinality as v (value, position)
     ) as pairs where ${direction === 'ASC' ? 'before > value' : 'before < value'} limit 1`,
    [inner],
  );
  return rows[0]?.disorder ?? '';
}
