import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { withService } from '../../support/fixture/with-service.js';
import { insertPackages } from '../../support/manifests/packages.js';

const { api, db } = withService();

type Query = Parameters<ReturnType<typeof api.as>['listManifests']>[0];

/** Manifests of these tests, by name. Their flights are of a year without others. */
const PLANTED = {
  early: { awb: '172-20000001', flight: 'CV 7215', day: '2031-03-01', status: 'completed' },
  late: { awb: '17220000002', flight: 'CV 7216', day: '2031-03-09', status: 'ready' },
  unscheduled: { awb: null, flight: null, day: null, status: 'draft' },
} as const;

const numberOf = (name: string) => `MAN-20310101-${name.slice(0, 4).toUpperCase()}`;
const ids = new Map<string, string>();

beforeAll(async () => {
  for (const [name, { awb, flight, day, status }] of Object.entries(PLANTED)) {
    const [row] = await db.query<{ id: string }>(
      `insert into manifests (tenant_id, id, manifest_number, awb_number, flight_number, flight_date, status, warehouse_id)
       values ($1, new_id(), $2, $3, $4, $5::date, $6, $7) returning id`,
      [DEMO.tenants.demo, numberOf(name), awb, flight, day, status, DEMO.warehouses.primary],
    );
    ids.set(name, String(row?.id));
  }
  await insertPackages(db, 1, { manifestId: ids.get('early') });
});

/** Returns the names of the planted manifests that a list has, in its order. */
async function listed(query: Query, as = 'manager'): Promise<string[]> {
  const { data } = await api.as(as).listManifests(query).ok();
  return data.flatMap(({ manifest_id }) =>
    [...ids].flatMap(([name, id]) => (id === manifest_id ? name : [])),
  );
}

describe('the text of a search', () => {
  test.each([
    ['172-2000', ['late', 'early']],
    ['1722000000', ['late', 'early']],
    ['172-20000002', ['late']],
    ['cv7215', ['early']],
    ['CV 7215', ['early']],
    ['man-20310101-unsc', ['unscheduled']],
    ['MAN20310101', ['unscheduled', 'late', 'early']],
    ['no such flight', []],
    ['%', []],
    ['_', []],
  ])('%s finds in numbers, air waybills and flights', async (q, names) => {
    expect((await listed({ q })).sort()).toEqual([...names].sort());
  });

  test('of hyphens and spaces alone filters nothing', async () => {
    expect(await listed({ q: ' - ' })).toHaveLength(3);
  });

  test('finds for a courier only manifests with its packages', async () => {
    expect(await listed({ q: 'CV 72' }, 'iex')).toEqual(['early']);
    expect(await listed({ q: 'CV 72' }, 'hrb')).toEqual([]);
    expect(await listed({ q: 'CV 72' }, 'two/admin')).toEqual([]);
  });
});

describe('the days of flights', () => {
  test('include both ends, and leave out manifests without a day', async () => {
    expect(await listed({ flight_from: '2031-03-01', flight_to: '2031-03-09' })).toHaveLength(2);
    expect(await listed({ flight_from: '2031-03-02' })).toEqual(['late']);
    expect(await listed({ flight_to: '2031-03-08' })).toEqual(['early']);
    expect(await listed({ flight_from: '2031-03-01', status: 'ready' })).toEqual(['late']);
  });

  test('in the wrong order are refused', async () => {
    const query = { flight_from: '2031-03-02', flight_to: '2031-03-01' };
    await api.as('manager').listManifests(query).refused(400, 'validation_failed', 'flight_to');
  });
});

describe('the order', () => {
  const pages = async (query: NonNullable<Query>) => {
    const found: string[] = [];
    for (let before: string | undefined; ;) {
      const { body } = await api
        .as('manager')
        .listManifests({ ...query, limit: 1, ...(before ? { before } : {}) })
        .ok();
      found.push(...body['data'].map(({ manifest_id }: { manifest_id: string }) => manifest_id));
      before = body['meta'].next_before ?? undefined;
      if (!before) return found;
    }
  };

  test.each(['created_at', 'flight_date', 'manifest_number'] as const)(
    'by %s is the same on pages of one manifest, in both directions',
    async (sort_by) => {
      const whole = (await api.as('manager').listManifests({ sort_by, sort_dir: 'ASC' }).ok()).data;
      const order = whole.map(({ manifest_id }) => manifest_id);
      expect(order.length).toBeGreaterThan(4);
      expect(await pages({ sort_by, sort_dir: 'ASC' })).toEqual(order);
      expect(await pages({ sort_by, sort_dir: 'DESC' })).toEqual(order.toReversed());
    },
  );

  test('by the flight has manifests without a day first if it ascends', async () => {
    expect(await listed({ sort_by: 'flight_date', sort_dir: 'ASC' })).toEqual([
      'unscheduled',
      'early',
      'late',
    ]);
  });
});
