import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { type Reply } from '../../../support/service/service.js';
import { withService } from '../../../support/fixture/with-service.js';
import { makePrealertCalls, newNumber, UNKNOWN_ID } from './prealert-calls.js';

const fixture = withService();
const { api, service } = fixture;
const { submit } = makePrealertCalls(fixture);

describe('GET /api/ManagePrealerts', () => {
  const list = (query: Record<string, string | number>, as = 'admin') => api.as(as).listPrealerts(query);

  test('returns page 1 of 50, newest first, with stats of all matches by default', async () => {
    const reply = await list({}).ok();
    const { data, meta } = reply.body;
    expect(meta).toMatchObject({ current_page: 1, per_page: 50 });
    expect(data).toHaveLength(50);
    const times = data.map((row: { created_at: string }) => row.created_at);
    expect(times).toEqual([...times].sort().reverse());
    const { rows } = await service().owner.query(
      `select count(*)::int as total, count(*) filter (where status = 'pending')::int as pending,
         count(*) filter (where status = 'received')::int as received,
         count(*) filter (where status = 'flagged')::int as flagged
       from prealerts where tenant_id = $1`,
      [DEMO.tenants.demo],
    );
    expect(meta.stats).toEqual(rows[0]);
    expect(meta.total_records).toBe(rows[0].total);
    expect(meta.total_pages).toBe(Math.ceil(rows[0].total / 50));
  });

  test('returns the names of courier and customer and the reference', async () => {
    const number = newNumber();
    await submit({ UserCode: 'IEX-1001', TrackingNumber: number, Reference: 'R-1' }).succeeded();
    const { data } = await list({ search: number }).answer();
    const customer = await service().owner.query("select * from customers where user_code = 'IEX-1001'");
    expect(data).toMatchObject([
      {
        tracking_number: number,
        reference: 'R-1',
        courier_name: 'Island Express',
        first_name: customer.rows[0].first_name,
        last_name: customer.rows[0].last_name,
      },
    ]);
  });

  test.each(['created_at', 'status', 'tracking_number', 'vendor', 'user_code'])(
    'sorts by %s in both directions',
    async (sort_by) => {
      const { rows } = await service().owner.query(
        `select id from prealerts where tenant_id = $1 order by ${sort_by} asc${sort_by === 'status' ? ', created_at' : ''}, id asc`,
        [DEMO.tenants.demo],
      );
      const ids = rows.map(({ id }) => id);
      const asc = await list({ sort_by, sort_dir: 'ASC', limit: 500 }).answer();
      const desc = await list({ sort_by, sort_dir: 'DESC', limit: 500 }).answer();
      const idsOf = (reply: Reply) =>
        reply.body['data'].map((row: { prealert_id: string }) => row.prealert_id);
      expect(idsOf(asc)).toEqual(ids);
      expect(idsOf(desc)).toEqual([...ids].reverse());
    },
  );

  test('pages contain each record once, and a page past the end is empty', async () => {
    const all = await list({ limit: 500 }).ok();
    const pages = [];
    for (let page = 1; page <= Math.ceil(all.data.length / 7); page += 1) {
      pages.push(...(await list({ limit: 7, page }).ok()).data);
    }
    expect(pages).toEqual(all.data);
    const past = await list({ limit: 7, page: 1000 }).ok();
    expect(past.data).toEqual([]);
    expect(past.meta.total_records).toBe(all.meta.total_records);
  });

  test('the status filter applies to the records and the stats', async () => {
    for (const status of ['pending', 'received', 'flagged']) {
      const { data, meta } = await list({ status, limit: 500 }).answer();
      expect(data.length).toBeGreaterThan(0);
      expect(data.filter((row: { status: string }) => row.status !== status)).toEqual([]);
      expect(meta.stats).toMatchObject({ total: data.length, [status]: data.length });
    }
  });

  test('couriers see only their own pre-alerts, and staff filter by courier_id', async () => {
    const ownersOf = ({ body }: Reply) =>
      new Set(body['data'].map((row: { courier_id: string }) => row.courier_id));
    const own = await list({ courier_id: DEMO.couriers.HRB, limit: 500 }, 'iex').ok();
    expect(ownersOf(own)).toEqual(new Set([DEMO.couriers.IEX]));
    expect(own.meta.stats.total).toBe(own.data.length);
    const filtered = await list({ courier_id: DEMO.couriers.HRB, limit: 500 }).answer();
    expect(ownersOf(filtered)).toEqual(new Set([DEMO.couriers.HRB]));
    expect((await list({ courier_id: UNKNOWN_ID }).ok()).data).toEqual([]);
    expect((await list({ courier_id: DEMO.couriers.TWO }).ok()).data).toEqual([]);
  });

  test('search finds literal text in number, code, vendor and names and counts the matches', async () => {
    const marks = ['100%', 'a_b', 'back\\slash', 'Ünïcode', 'ReBeL', "quo'te", '%', '_', '\\'];
    for (const vendor of marks)
      await submit({ UserCode: 'IEX-1003', TrackingNumber: newNumber(), Vendor: vendor }).succeeded();
    const { rows } = await service().owner.query(
      `select p.id, p.tracking_number, p.user_code, p.vendor, c.first_name, c.last_name from prealerts p
       left join customers c using (tenant_id, courier_id, user_code) where p.tenant_id = $1`,
      [DEMO.tenants.demo],
    );
    const names = rows
      .flatMap((row) => [row.first_name, `${row.first_name} ${row.last_name}`])
      .filter(Boolean)
      .slice(0, 30);
    const queries = [
      ...marks,
      ...names,
      'iex-10',
      'IEX-1003',
      '1Z',
      'zzzzzz',
      '%%',
      'rebel',
      'ÜNÏ',
      '0',
      'TEST-',
    ];
    for (const search of queries) {
      const contains = (text: string | null) => text?.toLowerCase().includes(search.toLowerCase()) ?? false;
      const expected = rows
        .filter((row) =>
          [
            row.tracking_number,
            row.user_code,
            row.vendor,
            row.first_name && `${row.first_name} ${row.last_name}`,
          ].some(contains),
        )
        .map(({ id }) => id);
      const { data, meta } = await list({ search, limit: 500 }).answer();
      expect({
        search,
        ids: data.map((row: { prealert_id: string }) => row.prealert_id).sort(),
      }).toEqual({
        search,
        ids: expected.sort(),
      });
      expect(meta.stats.total).toBe(expected.length);
    }
  });

  test("a courier's search does not find a sibling's pre-alerts", async () => {
    const { data, meta } = await list({ search: 'HRB-2' }, 'iex').answer();
    expect(data).toEqual([]);
    expect(meta.stats.total).toBe(0);
  });
});
