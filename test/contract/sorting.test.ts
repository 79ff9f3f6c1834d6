import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Body } from '../support/service/contract.js';
import { plantCouriers } from '../support/builders/register.js';
import { startService, type Service } from '../support/service/service.js';
import { plantUsers } from '../support/builders/users.js';
import { lists, readAll } from './lists.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await plantUsers(service.owner, 30);
  await plantCouriers(service.owner);
});

afterAll(async () => {
  await service.stop();
});

const sorts = lists.flatMap(({ id, sorts: fields }) =>
  fields.flatMap((field) => (['ASC', 'DESC'] as const).map((direction) => ({ id, field, direction }))),
);

test.each(sorts)(
  '$id by $field, $direction: every record once, in order, and the same order whatever the page',
  async ({ id, field, direction }) => {
    const order = { sort_by: field, sort_dir: direction };
    const [all, unsorted] = [await readAll(service, id, order), await readAll(service, id, {})];
    // several pages of seven
    expect(all.length).toBeGreaterThan(20);
    expect(all.every((record) => field in record)).toBe(true);
    expect(textsOf(all).sort()).toEqual(textsOf(unsorted).sort());
    expect(new Set(textsOf(all)).size).toBe(all.length);
    expect(
      await faultOfOrder(
        all.map((record) => record[field]),
        direction,
      ),
    ).toBe('');
    // ties are broken the same way each time
    expect(textsOf(await readAll(service, id, order, 7))).toEqual(textsOf(all));
  },
  60_000,
);

test.each([...new Set(sorts.map(({ id }) => id))])(
  '%s: the two directions are each other’s reverse',
  async (id) => {
    for (const { field } of sorts.filter((sort) => sort.id === id && sort.direction === 'ASC')) {
      const up = await readAll(service, id, { sort_by: field, sort_dir: 'ASC' });
      const down = await readAll(service, id, { sort_by: field, sort_dir: 'DESC' });
      expect([field, down.map((record) => record[field])]).toEqual([
        field,
        up.map((record) => record[field]).reverse(),
      ]);
    }
  },
);

const textsOf = (records: Body[]) => records.map((record) => JSON.stringify(record));

/** Where values are out of order, with null together at one end; PostgreSQL's collation decides on texts. */
async function faultOfOrder(values: unknown[], direction: 'ASC' | 'DESC'): Promise<string> {
  const ends = [values.findIndex((value) => value !== null), values.findLastIndex((value) => value !== null)];
  const inner = values.slice(ends[0], (ends[1] ?? 0) + 1);
  if (inner.includes(null)) return 'null stands between other values';
  const type = typeof inner[0] === 'number' ? 'numeric' : 'text';
  const { rows } = await service.owner.query<{ fault: string }>(
    `select format('%s before %s', before, value) as fault from (
       select value, lag(value) over (order by place) as before from unnest($1::${type}[]) with ordinality as v (value, place)
     ) as pairs where ${direction === 'ASC' ? 'before > value' : 'before < value'} limit 1`,
    [inner],
  );
  return rows[0]?.fault ?? '';
}
