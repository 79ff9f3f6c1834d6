import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/demo.js';
import { insertWithoutTriggers } from '../../../support/builders/many-rows.js';
import { data, UNKNOWN_ID, withBilling } from '../billing-calls.js';
import { couriersWith, makeRunCalls } from './run-calls.js';

const fixture = withBilling();
const { service, billing, auditOf, linesOf } = fixture;
const { draft, untilDone, billsOf, insertDrafts } = makeRunCalls(fixture);

describe('drafting a month', () => {
  test('creates the bill of a single draft for each chosen courier, and goes on after one that is refused', async () => {
    const [first = '', second = ''] = await couriersWith(billing, [2, 1]);
    await billing.addPackages(first, [{ weight: '200' }]);
    const idle = await billing.newCourier();
    const reply = await draft({ courier_ids: [second.toUpperCase(), UNKNOWN_ID, idle, first, first] }).ok();
    expect(reply.message).toBe('2 bills drafted.');
    expect(reply.data.next_after).toBeNull();
    const ids = [UNKNOWN_ID, idle, first, second].toSorted();
    expect(reply.data.results.map(({ courier_id: id }) => id)).toEqual(ids);
    const of = (id: string) => reply.data.results.find(({ courier_id: each }) => each === id);
    expect(of(UNKNOWN_ID)).toMatchObject({
      outcome: 'refused',
      code: 'courier_not_found',
      courier_name: null,
    });
    expect(of(idle)).toMatchObject({ outcome: 'unchanged', code: 'nothing_to_bill', bills: [] });
    const gap = 'No tier covers weights above 100 lb; 1 package has no fee.';
    expect(of(first)).toMatchObject({ outcome: 'drafted', code: null, warnings: [gap] });
    const [bill] = of(first)?.bills ?? [];
    const stored = data(await billing.read(bill?.bill_id ?? ''));
    expect(stored).toMatchObject({
      ...bill,
      courier_id: first,
      service_type: 'Air',
      tax_rate: 7,
      status: 'draft',
    });
    // 7 % of 24.00
    expect([stored.subtotal, stored.total_amount, bill?.total_packages]).toEqual([24, 25.68, 3]);
    const lines = await linesOf(bill?.bill_id ?? '');
    const audited = (await auditOf(bill?.bill_id ?? '')).map(({ action, after }) => [action, after]);

    // A single draft of the same packages is the same bill.
    await billing.remove(bill?.bill_id ?? '');
    const single = data(await billing.draft(first, { tax_rate: 7 }));
    expect(single).toMatchObject({ total_packages: 3, subtotal: 24, total_amount: 25.68, warnings: [gap] });
    const withoutIds = (rows: { line_id: string }[]) => rows.map(({ line_id: _, ...line }) => line);
    expect(withoutIds(await linesOf(single.bill_id))).toEqual(withoutIds(lines));
    const [[, after] = []] = (await auditOf(single.bill_id)).map((entry) => [entry.action, entry.after]);
    expect(audited).toEqual([
      ['bill.drafted', { ...(after as object), invoice_number: bill?.invoice_number }],
    ]);
  });

  test('changes nothing a second time: neither beside a draft nor after its publication', async () => {
    const [courierId = ''] = await couriersWith(billing, [2]);
    const run = async () => (await draft({ courier_ids: [courierId] }).ok()).data.results[0];
    const billId = (await run())?.bills[0]?.bill_id ?? '';
    await billing.addPackages(courierId, [{ weight: '5' }]);
    expect(await run()).toMatchObject({
      outcome: 'unchanged',
      code: 'draft_exists',
      bills: [{ bill_id: billId }],
    });
    expect(await billsOf(courierId)).toMatchObject([{ id: billId, packages: 2 }]);
    await billing.publish(billId);
    // The package that came late is on a second bill, and then there is nothing left.
    expect(await run()).toMatchObject({ outcome: 'drafted', bills: [{ total_packages: 1 }] });
    await billing.publish((await billsOf(courierId))[1]?.id ?? '');
    const left = await run();
    expect(left).toMatchObject({ outcome: 'unchanged', code: 'nothing_to_bill', bills: [] });
    expect(left?.message).toContain('Already on another bill: 3.');
    expect(await billsOf(courierId)).toHaveLength(2);
  });

  test('drafts no second bill of any courier beside one with more than 100 drafts', async () => {
    const [full = '', other = ''] = (await couriersWith(billing, [1, 1])).toSorted();
    await insertDrafts(full, 101);
    const [billId] = await insertDrafts(other, 1);
    const { results } = (await draft({ courier_ids: [full, other] }).ok()).data;
    expect(results.map(({ code, bills }) => [code, bills.length])).toEqual([
      ['draft_exists', 100],
      ['draft_exists', 1],
    ]);
    expect(results[1]?.bills[0]?.bill_id).toBe(billId);
    expect(await billsOf(other)).toHaveLength(1);
  });

  test('refuses a courier whose bill would be too large, and drafts the others', async () => {
    // 999 lb at 99,999,999.99 USD per lb
    const rich = await billing.newCourier('99999999.99');
    const manifest = await billing.newManifest('106-2');
    await billing.addPackages(rich, [{ weight: '999', manifest }]);
    const [other = ''] = await couriersWith(billing, [1]);
    const { results } = (await draft({ courier_ids: [rich, other] }).ok()).data;
    const of = (id: string) => results.find(({ courier_id: each }) => each === id);
    expect(of(rich)).toMatchObject({ outcome: 'refused', code: 'bill_too_large', bills: [] });
    expect(of(other)).toMatchObject({ outcome: 'drafted' });
    expect(await billsOf(rich)).toEqual([]);
  });

  test('goes on after 25 couriers, until each courier of the tenant has had its turn once', async () => {
    const made = await couriersWith(
      billing,
      Array.from({ length: 27 }, () => 1),
    );
    const requests = await untilDone((extra) => draft(extra));
    expect(requests.length).toBeGreaterThan(1);
    expect(requests.filter((results) => results.length > 25)).toEqual([]);
    const seen = requests.flat().map(({ courier_id: id }) => id);
    const { rows } = await service().owner.query('select id from couriers where tenant_id = $1 order by id', [
      DEMO.tenants.demo,
    ]);
    expect(seen).toEqual(rows.map(({ id }) => id));
    const drafted = requests.flat().filter(({ outcome }) => outcome === 'drafted');
    expect(drafted.map(({ courier_id: id }) => id)).toEqual(expect.arrayContaining(made));
  });

  test('goes on after the courier whose packages fill a request of 20,000', async () => {
    const couriers = [await billing.newCourier(), await billing.newCourier(), await billing.newCourier()];
    const [first = '', second = '', third = ''] = couriers.toSorted();
    const { owner } = service();
    for (const [courierId, many] of [
      [first, 12_000],
      [second, 8_001],
      [third, 1],
    ] as const)
      await insertWithoutTriggers(
        owner,
        `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id, received_at)
         select $1, gen_random_uuid(), $2, 'RUN' || t, 'RUN' || t, 'RUN' || t, 5, $4, '2024-05-10'
         from (select gen_random_uuid()::text as t from generate_series(1, $3)) as made`,
        [DEMO.tenants.demo, courierId, many, DEMO.warehouses.primary],
      );
    const begun = (await draft({ courier_ids: couriers }).ok()).data;
    expect(begun.results).toMatchObject([{ courier_id: first, bills: [{ total_packages: 12_000 }] }]);
    expect(begun.next_after).toBe(first);
    const rest = (await draft({ courier_ids: couriers, after: first }).ok()).data;
    expect(rest.results).toMatchObject([
      { courier_id: second, bills: [{ total_packages: 8_001 }] },
      { courier_id: third, bills: [{ total_packages: 1 }] },
    ]);
    expect(rest.next_after).toBeNull();
  }, 120_000);

  test('rejects an empty list of couriers with 400', async () => {
    const none = await draft({ courier_ids: [] }).refused(400, 'validation_failed');
    expect(none.errors).toMatchObject([{ field: 'courier_ids' }]);
  });
});
