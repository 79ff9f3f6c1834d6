import { describe, expect, test } from '@jest/globals';
import { UNKNOWN_ID, withBilling } from '../billing-calls.js';
import { couriersWith, makeRunCalls } from './run-calls.js';

const fixture = withBilling();
const { service, billing, auditOf } = fixture;
const { draft, publish, untilDone, billsOf, insertDrafts } = makeRunCalls(fixture);

describe('publishing a month', () => {
  test('publishes the drafts of the chosen couriers whose last day is in the month, with consecutive numbers', async () => {
    const [first = '', second = '', other = ''] = (await couriersWith(billing, [2, 1, 1])).toSorted();
    await draft({ courier_ids: [first, second, other] }).ok();
    const [april = ''] = await insertDrafts(first, 1, '2024-04-30');
    const idle = await billing.newCourier();
    const reply = await publish({ courier_ids: [second, idle, UNKNOWN_ID, first] }).ok();
    expect([reply.message, reply.data.next_after]).toEqual(['2 bills published.', null]);
    const of = (id: string) => reply.data.results.find(({ courier_id: each }) => each === id);
    expect(of(UNKNOWN_ID)).toMatchObject({ outcome: 'refused', code: 'courier_not_found' });
    expect(of(idle)).toMatchObject({ outcome: 'unchanged', code: 'nothing_to_publish', bills: [] });
    const numbers: number[] = [];
    for (const courierId of [first, second]) {
      const [bill] = of(courierId)?.bills ?? [];
      expect(of(courierId)).toMatchObject({ outcome: 'published', code: null });
      const { body } = await billing.read(bill?.bill_id ?? '');
      expect(body['data']).toMatchObject({ ...bill, courier_id: courierId, status: 'published' });
      numbers.push(Number(bill?.invoice_number.slice(4)));
      const [, entry] = await auditOf(bill?.bill_id ?? '');
      expect(entry).toMatchObject({
        action: 'bill.published',
        after: { invoice_number: bill?.invoice_number, due_date: bill?.due_date },
      });
    }
    expect(numbers[1]).toBe((numbers[0] ?? 0) + 1);
    expect((await billing.read(april)).body['data']['status']).toBe('draft');
    expect(await billsOf(other)).toMatchObject([{ status: 'draft' }]);
  });

  test('publishes nothing a second time', async () => {
    const [courierId = ''] = await couriersWith(billing, [1]);
    await draft({ courier_ids: [courierId] }).ok();
    const run = () => publish({ courier_ids: [courierId] }).ok();
    const first = await run();
    const number = first.data.results[0]?.bills[0]?.invoice_number;
    const again = await run();
    expect(again.message).toBe('0 bills published.');
    expect(again.data.results).toMatchObject([
      { outcome: 'unchanged', code: 'nothing_to_publish', bills: [] },
    ]);
    const { body } = await billing.read((await billsOf(courierId))[0]?.id ?? '');
    expect(body['data']['invoice_number']).toBe(number);
  });

  test('refuses a draft that does not match its lines, and publishes the others', async () => {
    const [broken = '', other = ''] = [await billing.newCourier(), await billing.newCourier()].toSorted();
    const [good = '', bad = ''] = await insertDrafts(broken, 2);
    await insertDrafts(other, 1);
    await service().owner.query('update bills set subtotal = 6, total_amount = 6 where id = $1', [bad]);
    const { results } = (await publish({ courier_ids: [broken, other] }).ok()).data;
    expect(results).toMatchObject([
      { courier_id: broken, outcome: 'refused', code: 'draft_inconsistent', bills: [{ bill_id: good }] },
      { courier_id: other, outcome: 'published', bills: [{ status: 'published' }] },
    ]);
    expect(results[0]?.message).toMatch(/^DRAFT-.*: the lines do not add up to the total\./);
    expect((await billing.read(bad)).body['data']['status']).toBe('draft');
    await billing.remove(bad);
  });

  test('goes on after 100 bills, also within one courier, until no draft of the month is left', async () => {
    const [first = '', second = ''] = [await billing.newCourier(), await billing.newCourier()].toSorted();
    const drafts = [...(await insertDrafts(first, 130)), ...(await insertDrafts(second, 80))];
    const requests = await untilDone((extra) => publish(extra));
    expect(requests.length).toBeGreaterThan(2);
    const published = requests.map((results) => results.flatMap(({ bills }) => bills));
    expect(published.filter((bills) => bills.length > 100)).toEqual([]);
    const ids = published.flat().map(({ bill_id: id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining(drafts));
    const { rows } = await service().owner.query<{ left: number }>(
      `select count(*)::int as left from bills where status = 'draft' and end_date between '2024-05-01' and '2024-05-31'
         and courier_id = any($1)`,
      [[first, second]],
    );
    expect(rows).toEqual([{ left: 0 }]);
    const numbers = published.flat().map(({ invoice_number: number }) => Number(number.slice(4)));
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
  });
});
