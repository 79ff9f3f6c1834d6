import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { MAY, newBill } from '../../support/builders/billing.js';
import { type Reply } from '../../support/service/service.js';
import { data, expectError, UNKNOWN_ID, withBilling } from './billing-calls.js';

const { IEX } = DEMO.couriers;

const { api, service, billing, expectNothingWritten, auditOf, linesOf } = withBilling();

describe('draft creation', () => {
  test('adds a line per package in the order of intake, air freight and tax, with the amounts of the preview', async () => {
    const courierId = await billing.newCourier('1.75');
    const aboard = await billing.newManifest('001-12345675');
    const [light, flown, heavy] = await billing.addPackages(courierId, [
      { weight: '0.8', receivedAt: '2024-05-01T00:00:00Z', userCode: null },
      { weight: '4.25', receivedAt: '2024-05-03T00:00:00Z', manifest: aboard },
      { weight: '112', receivedAt: '2024-05-31T23:59:59.999Z' },
    ]);
    // One second outside the period, and one package of another courier.
    await billing.addPackages(courierId, [
      { weight: '1', receivedAt: '2024-04-30T23:59:59.999Z' },
      { weight: '1', receivedAt: '2024-06-01T00:00:00Z' },
    ]);
    await billing.addPackages(await billing.newCourier(), [{ weight: '1' }]);
    const preview = data(
      await api
        .as('admin')
        .previewCourierInvoice({ courier_id: courierId, ...MAY })
        .answer(),
    );

    const reply = await billing.draft(courierId.toUpperCase(), { tax_rate: 7.125, remarks: 'Thanks.' });
    expect([reply.status, reply.body['message']]).toEqual([200, 'Bill of 3 packages drafted.']);
    // Fees of 16.50 and air freight of 7.44; 7.125 % of 23.94 is 1.705725.
    expect(data(reply)).toEqual({
      bill_id: expect.any(String),
      invoice_number: expect.stringMatching(/^DRAFT-[0-9A-Z]{8}$/),
      status: 'draft',
      total_packages: 3,
      subtotal: 23.94,
      tax_amount: 1.71,
      total_amount: 25.65,
      left_out: { already_billed: 0 },
      warnings: ['No tier covers weights above 100 lb; 1 package has no fee.'],
    });
    expect(data(reply).warnings).toEqual(preview.warnings);
    expect(data(reply).subtotal).toBe(preview.summary.grand_total);

    const { body } = await billing.read(data(reply).bill_id);
    const parcel = { description: null, rate: null, kind: 'package', user_code: 'X' };
    const none = { package_id: null, tracking_number: null, house_number: null, user_code: null };
    expect(body['data'].lines).toMatchObject([
      {
        ...parcel,
        position: 1,
        package_id: light,
        weight: 0.8,
        tier: '0-1 lb',
        amount: 4.5,
        user_code: null,
      },
      { ...parcel, position: 2, package_id: flown, weight: 4.25, tier: '1-10 lb', amount: 12 },
      { ...parcel, position: 3, package_id: heavy, weight: 112, tier: null, amount: 0 },
      {
        ...none,
        position: 4,
        kind: 'air_freight',
        weight: 4.25,
        rate: 1.75,
        amount: 7.44,
        received_at: null,
      },
    ]);
    expect(body['data'].lines[2].received_at).toBe('2024-05-31 23:59:59');
    expect(body['data']).toMatchObject({
      courier_id: courierId,
      service_type: 'Air',
      remarks: 'Thanks.',
      tax_rate: 7.125,
      ...MAY,
      paid_amount: 0,
      balance: 25.65,
      status: 'draft',
      published_at: null,
      payments: [],
    });
    expect(await auditOf(data(reply).bill_id)).toMatchObject([
      {
        action: 'bill.drafted',
        entity: 'bill',
        actor_id: DEMO.users.manager,
        before: null,
        after: { total_packages: 3, subtotal: '23.94', tax_rate: '7.125', total_amount: '25.65' },
        request_id: reply.headers.get('x-request-id'),
      },
    ]);
  });

  test('leaves out packages on other bills, reports their number and rejects an empty bill', async () => {
    const courierId = await billing.newCourier();
    expectError(await billing.draft(courierId), 400, 'nothing_to_bill');
    await billing.addPackages(courierId, [{ weight: '1' }, { weight: '2' }]);
    const first = data(await billing.draft(courierId));
    const [late] = await billing.addPackages(courierId, [{ weight: '50' }]);
    const second = data(await billing.draft(courierId, { start_date: '2024-05-10' }));
    expect(second).toMatchObject({ total_packages: 1, subtotal: 35, left_out: { already_billed: 2 } });
    expect(await linesOf(second.bill_id)).toMatchObject([{ position: 1, package_id: late }]);
    await billing.publish(first.bill_id);
    await expectNothingWritten(async () => {
      const third = await billing.draft(courierId);
      expectError(third, 400, 'nothing_to_bill');
      expect(third.body['message']).toContain('on another bill: 3.');
    });
  });

  test('keeps weights and fees when packages and rates change later', async () => {
    const courierId = await billing.newCourier('2');
    const manifest = await billing.newManifest('106-1');
    const [id] = await billing.addPackages(courierId, [{ weight: '5', manifest }]);
    const { bill_id } = data(await billing.draft(courierId));
    const before = await linesOf(bill_id);
    await billing.rows(
      'update packages set weight_lb = 50, user_code = null, manifest_id = null where id = $1',
      [id],
    );
    await billing.rows('delete from rate_tiers where courier_id = $1', [courierId]);
    await billing.rows('update couriers set air_freight_rate = 9 where id = $1', [courierId]);
    expect(await linesOf(bill_id)).toEqual(before);
    expect(before).toMatchObject([{ amount: 12, weight: 5 }, { amount: 10 }]);
  });

  test('adds no air freight line without a rate, and warns and charges nothing without tiers', async () => {
    const courierId = await billing.newCourier('0', []);
    const manifest = await billing.newManifest('106-1');
    await billing.addPackages(courierId, [{ weight: '5', manifest }]);
    await billing.rows('delete from rate_tiers where courier_id is null and tenant_id = $1', [
      DEMO.tenants.demo,
    ]);
    const drafted = data(await billing.draft(courierId));
    expect(drafted).toMatchObject({
      subtotal: 0,
      warnings: ['There is no rate table; 1 package has no fee.'],
    });
    expect(await linesOf(drafted.bill_id)).toMatchObject([{ kind: 'package', tier: null, amount: 0 }]);
  });

  test('rejects a period that ends before it starts and an unknown courier', async () => {
    await expectNothingWritten(async () => {
      expectError(
        await billing.draft(IEX, { start_date: '2024-05-02', end_date: '2024-05-01' }),
        400,
        'validation_failed',
        'end_date',
      );
      expectError(await billing.draft(UNKNOWN_ID), 404, 'courier_not_found');
      expectError(await billing.draft(DEMO.couriers.TWO), 404, 'courier_not_found');
    });
  });

  test('rejects totals above 9,999,999,999.99 USD, tax included, and is exact up to that limit', async () => {
    const courierId = await billing.newCourier('0', [{ start: '0', end: '1', fee: '99999999.99' }]);
    const parcels = Array.from({ length: 100 }, () => ({ weight: '1' }));
    await billing.addPackages(courierId, parcels);
    const drafted = data(await billing.draft(courierId));
    expect(drafted.total_amount).toBe(9_999_999_999);
    const whole = await billing.adjust(drafted.bill_id, 0.99);
    expect(data(whole).total_amount).toBe(9_999_999_999.99);
    await expectNothingWritten(async () => {
      expectError(await billing.adjust(drafted.bill_id, 0.01), 400, 'bill_too_large');
    });
    const line = data(await billing.adjust(drafted.bill_id, -10)).line_id;
    await billing.adjust(drafted.bill_id, 10);
    await expectNothingWritten(async () => expectError(await billing.unadjust(line), 400, 'bill_too_large'));
    await billing.remove(drafted.bill_id);
    await expectNothingWritten(async () => {
      const taxed = await billing.draft(courierId, { tax_rate: 0.001 });
      expectError(taxed, 400, 'bill_too_large');
      expect(taxed.body['message']).toContain('10000099999.00. The largest');
    });
  });

  test('retries with another draft number if the number is taken', async () => {
    const courierId = await billing.newCourier();
    await billing.addPackages(courierId, [{ weight: '1' }]);
    const [{ invoice_number: taken } = {}] = await billing.rows(
      'select invoice_number from bills where id = $1',
      [DEMO.bills.draft],
    );
    // A sequence is not rolled back, so only the first attempt gets the taken number.
    await billing.rows('create sequence tries');
    await billing.rows(`create function take_number() returns trigger language plpgsql security definer as $$
      begin if nextval('tries') = 1 then new.invoice_number := '${String(taken)}'; end if; return new; end $$`);
    await billing.rows(
      'create trigger take before insert on bills for each row execute function take_number()',
    );
    try {
      const reply = await billing.draft(courierId);
      expect(reply.status).toBe(200);
      expect(data(reply).invoice_number).not.toBe(taken);
      expect(await billing.rows('select last_value::int from tries')).toEqual([{ last_value: 2 }]);
    } finally {
      await billing.rows('drop trigger take on bills');
    }
  });

  test('frees the packages and keeps the deleted draft in the audit log when a draft is deleted', async () => {
    const courierId = await billing.newCourier();
    const billId = await newBill(billing, courierId, 3);
    const reply = await billing.remove(billId);
    expect([reply.status, data(reply)]).toEqual([200, { bill_id: billId }]);
    expect(await billing.rows('select id from bill_lines where bill_id = $1', [billId])).toEqual([]);
    expectError(await billing.read(billId), 404, 'bill_not_found');
    expect(data(await billing.draft(courierId))).toMatchObject({ total_packages: 1, subtotal: 12 });
    expect((await auditOf(billId)).at(-1)).toMatchObject({
      action: 'bill.draft_deleted',
      before: { courier_id: courierId, total_amount: '15.00', status: 'draft' },
      after: null,
    });
    expectError(await billing.remove(billId), 404, 'bill_not_found');
  });
});

// Must run last: the fingerprints of other tests would take long with this many rows.
const DRAFTED = rounds(1_000, 100_000);
const LAST_PAGE = Math.ceil((DRAFTED + 1) / 20_000);

test(`drafts ${DRAFTED} packages in one statement, and rejects more than 100,000 as a draft and as a preview`, async () => {
  const courierId = await billing.newCourier('1.75');
  const manifest = await billing.newManifest('106-1');
  const insert = (owner: string, prefix: string, count: number) =>
    insertWithoutTriggers(
      service().owner,
      `insert into packages (tenant_id, id, courier_id, tracking_number, tracking_key, house_number, weight_lb, warehouse_id,
         manifest_id, received_at)
       select $1, gen_random_uuid(), $2, $5 || n, $5 || n, $5 || n, 1 + n % 9000 / 1000.0, $3, $4,
         '2024-05-01Z'::timestamptz + n * interval '1 second'
       from generate_series(1, $6::int) n`,
      [DEMO.tenants.demo, owner, DEMO.warehouses.primary, manifest, prefix, count],
    );
  const crowded = await billing.newCourier('1.75');
  await insert(crowded, 'CROWD-', 100_001);
  const tooMany = await billing.draft(crowded);
  expectError(tooMany, 400, 'bill_too_large');
  expect(tooMany.body['message']).toContain('100001 packages');
  const previewedToo = await api
    .as('manager')
    .previewCourierInvoice({ courier_id: crowded, ...MAY })
    .refused(400, 'bill_too_large');
  expect(previewedToo.message).toContain('100001 packages');
  await insert(courierId, 'MANY-', DRAFTED);
  const body = { courier_id: courierId, ...MAY };
  const previewed = await timed(() => api.as('manager').previewCourierInvoice(body).answer());
  const drawn = await timed(() => billing.draft(courierId));
  const drafted = data(drawn.reply);
  expect(drafted.subtotal).toBe(data(previewed.reply).summary.grand_total);
  expect(drafted).toMatchObject({ total_packages: DRAFTED });
  const last = await billing.read(drafted.bill_id, 'manager', { limit: 20_000, page: LAST_PAGE });
  expect(last.body['meta']).toMatchObject({ total_records: DRAFTED + 1, total_pages: LAST_PAGE });
  expect(data(last).lines.at(-1)).toMatchObject({ position: DRAFTED + 1, kind: 'air_freight' });
  expect((await billing.publish(drafted.bill_id)).status).toBe(200);
  const ratio = (drawn.tookMs / previewed.tookMs).toFixed(1);
  process.stdout.write(
    `a draft of ${DRAFTED} packages took ${Math.round(drawn.tookMs)} ms, ${ratio} times its preview\n`,
  );
}, 120_000);

async function timed(call: () => Promise<Reply>): Promise<{ reply: Reply; tookMs: number }> {
  const began = performance.now();
  return { reply: await call(), tookMs: performance.now() - began };
}
