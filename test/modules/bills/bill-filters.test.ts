import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { withService } from '../../support/fixture/with-service.js';
import { idsOf, makeBillList } from './listed-bills.js';

const { HRB, TWO } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const fixture = withService();
const { insertRows, expectedIds, load } = makeBillList(fixture);
beforeAll(() => insertRows(), 60_000);

describe('bill filters', () => {
  test.each(['draft', 'published', 'paid'])('status %s excludes other statuses', async (status) => {
    const reply = await load('admin', { status }).ok();
    expect(idsOf(reply)).toEqual(await expectedIds(`status = '${status}'`));
    expect(new Set(reply.data.map((bill) => bill.status))).toEqual(new Set([status]));
  });

  test("courier_id selects one courier's bills and matches nothing for unknown or foreign couriers", async () => {
    expect(idsOf(await load('admin', { courier_id: HRB.toUpperCase() }).ok())).toEqual(
      await expectedIds(`courier_id = '${HRB}'`),
    );
    for (const courier_id of [TWO, UNKNOWN_ID]) {
      expect((await load('admin', { courier_id }).ok()).body).toMatchObject({ count: 0, data: [] });
    }
  });

  test.each([
    [{ from: '2025-02-28' }, "end_date >= '2025-02-28'"],
    [{ from: '2025-03-01' }, "end_date >= '2025-03-01'"],
    [{ to: '2025-02-01' }, "start_date <= '2025-02-01'"],
    [{ to: '2025-01-31' }, "start_date <= '2025-01-31'"],
    [{ from: '2025-02-10', to: '2025-02-10' }, "start_date <= '2025-02-10' and end_date >= '2025-02-10'"],
  ])('%j selects bills whose period overlaps', async (query, condition) => {
    const found = await expectedIds(condition);
    expect(idsOf(await load('admin', query).ok())).toEqual(found);
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThan(8);
  });

  test('all filters apply together', async () => {
    const query = { courier_id: HRB, status: 'published', from: '2025-02-01', to: '2025-02-28' };
    const reply = await load('manager', query).ok();
    expect(reply.body).toMatchObject({ count: 1, message: '1 bill found.' });
    expect((await load('manager', { ...query, status: 'paid' }).ok()).body.count).toBe(0);
  });

  test('rejects a to before from with 400 and names to', async () => {
    const { errors } = await load('admin', { from: '2025-02-02', to: '2025-02-01' }).refused(
      400,
      'validation_failed',
    );
    expect(errors).toMatchObject([{ field: 'to' }]);
  });

  test.each([
    ['courier_id', 'IEX'],
    ['status', 'Draft'],
    ['status', 'unpaid'],
    ['status', ''],
    ['from', '2025-02-30'],
    ['to', '01/02/2025'],
    ['page', 0],
    ['page', 1_000_001],
    ['page', '1.5'],
    ['limit', 0],
    ['limit', 20_001],
    ['limit', 'all'],
    ['limit', ['1', '2']],
  ])('rejects %s %j with 400 and names the field', async (name, value) => {
    const { errors } = await load('admin', { [name]: value }).refused(400, 'validation_failed');
    expect(errors).toMatchObject([{ field: name }]);
  });
});

describe('pages of bills', () => {
  test('contain each bill exactly once', async () => {
    const all = await expectedIds('true');
    for (const limit of [1, 3, 8, 100]) {
      const pages = Math.ceil(all.length / limit);
      const found: string[] = [];
      for (let page = 1; page <= pages; page += 1) {
        const reply = await load('admin', { limit, page }).ok();
        expect(reply.meta).toEqual({
          current_page: page,
          per_page: limit,
          total_records: all.length,
          total_pages: pages,
        });
        expect(reply.body.count).toBe(reply.data.length);
        found.push(...idsOf(reply));
      }
      expect(found).toEqual(all);
      expect((await load('admin', { limit, page: pages + 1 }).ok()).body).toMatchObject({
        count: 0,
        data: [],
      });
    }
    expect((await load('admin', { limit: 20_000, page: 1_000_000 }).ok()).body.data).toEqual([]);
  });
});

describe('20,000 bills of a courier', () => {
  const other = withService();
  const there = makeBillList(other);

  test('returns up to 20,000 bills per page and the rest on the next page', async () => {
    await other.db.query(
      `insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
         subtotal, tax_amount, total_amount, status, created_at)
       select $1, gen_random_uuid(), 'MANY-' || n, $2, 'Air standard', '2024-01-01', '2024-01-31', 1, 1, 0, 1, 'published',
         '2024-02-01Z'::timestamptz + n * interval '1 minute' from generate_series(1, 20000) n`,
      [DEMO.tenants.demo, HRB],
    );
    const { body, meta } = await there.load('hrb').ok();
    expect([body.count, meta.total_records, meta.total_pages]).toEqual([20_000, 20_000, 1]);
    // Three bills of the demo data exceed the first page.
    const all = await there.expectedIds('true');
    const [first, second] = [await there.load('admin').ok(), await there.load('admin', { page: 2 }).ok()];
    expect(first.meta).toMatchObject({ total_records: 20_003, total_pages: 2 });
    expect([first.body.count, second.body.count]).toEqual([20_000, 3]);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(all);
  }, 120_000);
});
