import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { insertWithoutTriggers } from '../../support/builders/many-rows.js';
import { rounds } from '../../support/harness/effort.js';
import { makeBilling, MAY, newBill, type Billing } from '../../support/builders/billing.js';
import { fingerprint } from '../../support/readers/fingerprint.js';
import { type Reply } from '../../support/service/service.js';
import { withService } from '../../support/fixture/with-service.js';

const { IEX } = DEMO.couriers;
const UNKNOWN_ID = '01930a3e-7c1d-7e11-9c5a-000000000000';

const { api, service } = withService();
beforeAll(async () => {
  billing = makeBilling(service());
}, 60_000);
let billing: Billing;

const data = ({ body }: Reply) => body['data'];

function expectError(reply: Reply, status: number, code: string, field?: string): void {
  expect([reply.status, reply.body['code']]).toEqual([status, code]);
  if (field) expect(reply.body['errors']).toMatchObject([{ field }]);
}

/** Asserts that neither the rows nor the audit log changed. */
async function expectNothingWritten(act: () => Promise<unknown>): Promise<void> {
  const before = await fingerprint(service().owner);
  await act();
  expect(await fingerprint(service().owner)).toEqual(before);
}

const auditOf = (billId: string) =>
  billing.rows(
    'select action, entity, actor_id, before, after, request_id from audit_entries where entity_id = $1 order by id',
    [billId],
  );

const linesOf = async (billId: string) => data(await billing.read(billId)).lines;

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

  const TIER_TABLES = rounds(2, 5);

  test(`matches the preview to the cent for ${200 * TIER_TABLES} random packages and random tiers`, async () => {
    for (let round = 0; round < TIER_TABLES; round += 1) {
      const courierId = await billing.newCourier(String(randomInt(500) / 100));
      const [awb, none] = [await billing.newManifest('106-1'), await billing.newManifest(null)];
      await billing.addPackages(
        courierId,
        Array.from({ length: 200 }, () => ({
          weight: String(randomInt(1, 120_000) / 1_000),
          manifest: [awb, none, null][randomInt(3)] ?? null,
        })),
      );
      const body = { courier_id: courierId, ...MAY };
      const preview = data(await api.as('admin').previewCourierInvoice(body).answer());
      const drafted = data(await billing.draft(courierId));
      expect(drafted.subtotal).toBe(preview.summary.grand_total);
      const lines = await linesOf(drafted.bill_id);
      const fees = lines.flatMap(({ package_id, amount }: { package_id: string | null; amount: number }) =>
        package_id === null ? [] : { package_id, applied_fee: amount },
      );
      expect(fees).toEqual(
        preview.packages.map(({ package_id, applied_fee }: Record<string, unknown>) => ({
          package_id,
          applied_fee,
        })),
      );
      const { air_freight_rate, air_freight_weight, total_air_freight } = preview.summary;
      expect(lines.at(-1)).toMatchObject(
        air_freight_rate > 0
          ? {
              kind: 'air_freight',
              rate: air_freight_rate,
              weight: air_freight_weight,
              amount: total_air_freight,
            }
          : { kind: 'package' },
      );
    }
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
      expect(taxed.body['message']).toContain('10000099999.00 USD');
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

describe('adjustments', () => {
  test('update subtotal, tax and total with half a cent rounded up, and removing them restores the amounts', async () => {
    const courierId = await billing.newCourier();
    await billing.addPackages(courierId, [{ weight: '5' }]);
    const { bill_id } = data(await billing.draft(courierId, { tax_rate: 12.5 }));
    // 12.5 % of 11.96 is 1.495.
    const reply = await billing.adjust(bill_id, -0.04, 'Wet box');
    expect(data(reply)).toEqual({
      bill_id,
      line_id: expect.any(String),
      subtotal: 11.96,
      tax_amount: 1.5,
      total_amount: 13.46,
    });
    expect((await linesOf(bill_id)).at(-1)).toMatchObject({
      line_id: data(reply).line_id,
      position: 2,
      kind: 'adjustment',
      description: 'Wet box',
      amount: -0.04,
      weight: null,
      received_at: null,
    });
    const second = await billing.adjust(bill_id, 100.1);
    expect(data(second)).toMatchObject({ subtotal: 112.06, tax_amount: 14.01, total_amount: 126.07 });
    await billing.unadjust(data(second).line_id);
    const removed = await billing.unadjust(data(reply).line_id.toUpperCase());
    expect(data(removed)).toEqual({
      bill_id,
      line_id: data(reply).line_id,
      subtotal: 12,
      tax_amount: 1.5,
      total_amount: 13.5,
    });
    expect(await linesOf(bill_id)).toHaveLength(1);
    expect((await auditOf(bill_id)).map(({ action }) => action)).toEqual([
      'bill.drafted',
      'bill.adjustment_added',
      'bill.adjustment_added',
      'bill.adjustment_removed',
      'bill.adjustment_removed',
    ]);
    expect((await auditOf(bill_id))[1]).toMatchObject({
      before: { subtotal: '12.00', total_amount: '13.50' },
      after: { description: 'Wet box', amount_usd: '-0.04', subtotal: '11.96', total_amount: '13.46' },
    });
    expectError(await billing.unadjust(data(reply).line_id), 404, 'adjustment_not_found');
  });

  test('may reduce the total to 0 but not below, also by removing a charge', async () => {
    const billId = await newBill(billing, await billing.newCourier(), 5);
    const [, charge] = await linesOf(billId);
    expect(data(await billing.adjust(billId, -17))).toMatchObject({
      subtotal: 0,
      tax_amount: 0,
      total_amount: 0,
    });
    await expectNothingWritten(async () => {
      expectError(await billing.adjust(billId, -0.01), 400, 'bill_total_negative');
      expectError(await billing.unadjust(charge.line_id), 400, 'bill_total_negative');
    });
  });

  test('are rejected for amount 0, published bills, unknown bills and lines that are no adjustments', async () => {
    const billId = await newBill(billing, await billing.newCourier());
    const [line] = await linesOf(billId);
    await expectNothingWritten(async () => {
      for (const amount of [0, -0])
        expectError(await billing.adjust(billId, amount), 400, 'validation_failed', 'amount');
      expectError(await billing.adjust(UNKNOWN_ID, 1), 404, 'bill_not_found');
      // A package line cannot be removed as an adjustment.
      for (const id of [line.line_id, UNKNOWN_ID])
        expectError(await billing.unadjust(id), 404, 'adjustment_not_found');
    });
    const { line_id } = data(await billing.adjust(billId, 1));
    await billing.publish(billId);
    await expectNothingWritten(async () => {
      for (const reply of [
        await billing.adjust(billId, 1),
        await billing.unadjust(line_id),
        await billing.remove(billId),
      ]) {
        expectError(reply, 400, 'bill_not_draft');
        expect(reply.body['message']).toMatch(/^Bill INV-\d{6} is published.* next bill/);
      }
    });
  });
});

describe('publication', () => {
  test('numbers bills consecutively, freezes both addresses and rejects a second publication', async () => {
    const courierId = await billing.newCourier();
    const [first, second] = [await newBill(billing, courierId), await newBill(billing, courierId)];
    const before = data(await billing.read(first));
    const reply = await billing.publish(first);
    const next = await billing.publish(second);
    const numberOf = (each: Reply) => Number(/^INV-(\d{6})$/.exec(data(each).invoice_number)?.[1]);
    expect(numberOf(next)).toBe(numberOf(reply) + 1);
    expect(data(reply)).toEqual({
      bill_id: first,
      invoice_number: expect.any(String),
      status: 'published',
      total_amount: 12,
      published_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    });
    await billing.rows("update couriers set name = 'Another', email = 'x@y.example' where id = $1", [
      courierId,
    ]);
    const published = data(await billing.read(first));
    expect(published).toEqual({
      ...before,
      invoice_number: data(reply).invoice_number,
      status: 'published',
      courier_name: 'Another',
      published_at: data(reply).published_at,
    });
    expect(published.bill_from).toMatchObject({
      name: 'Miami Gateway',
      address: ['8200 NW 41st Street', 'Miami', 'United States'],
    });
    await expectNothingWritten(async () => expectError(await billing.publish(first), 400, 'bill_not_draft'));
    expectError(await billing.publish(UNKNOWN_ID), 404, 'bill_not_found');
    expect((await auditOf(first)).at(-1)).toMatchObject({
      action: 'bill.published',
      before: { status: 'draft' },
      after: { status: 'published', sequence_number: numberOf(reply) },
    });
  });

  test("numbers each tenant's bills separately and continues beyond six digits", async () => {
    const drafts = [];
    for (let n = 0; n < 2; n += 1) drafts.push(await newBill(billing, await billing.newCourier()));
    const [{ last_number: before } = {}] = await billing.rows('select last_number from bill_counters');
    await billing.rows('update bill_counters set last_number = 999998');
    const numbers = [];
    for (const id of drafts) numbers.push(data(await billing.publish(id)).invoice_number);
    expect(numbers).toEqual(['INV-999999', 'INV-1000000']);
    await billing.rows('update bill_counters set last_number = $1', [before]);
    const body = { action: 'create_draft', courier_id: DEMO.couriers.TWO, service_type: 'Air' };
    const period = { start_date: '2020-01-01', end_date: '2100-01-01' };
    const other = await billing.manage({ ...body, ...period }, 'two/admin');
    const published = await billing.manage({ action: 'publish', bill_id: data(other).bill_id }, 'two/admin');
    expect(data(published).invoice_number).toBe('INV-000001');
  });

  test('marks a bill of 0.00 as paid', async () => {
    const billId = await newBill(billing, await billing.newCourier(), -12);
    expect(data(await billing.publish(billId))).toMatchObject({ status: 'paid', total_amount: 0 });
    expectError(await billing.pay(billId, 0.01), 400, 'payment_exceeds_balance');
  });

  test('fails for a draft that does not match its lines, and uses no number', async () => {
    const billId = await newBill(billing, await billing.newCourier());
    for (const corruption of [
      'subtotal = 13, total_amount = 13',
      'total_packages = 2',
      'tax_amount = 1, total_amount = 13',
    ]) {
      const [before] = await billing.rows('select * from bills where id = $1', [billId]);
      await billing.rows(`update bills set ${corruption} where id = $1`, [billId]);
      await expectNothingWritten(async () =>
        expectError(await billing.publish(billId), 500, 'internal_error'),
      );
      await billing.rows(
        'update bills set subtotal = $2, tax_amount = $3, total_amount = $4, total_packages = $5 where id = $1',
        [
          billId,
          before?.['subtotal'],
          before?.['tax_amount'],
          before?.['total_amount'],
          before?.['total_packages'],
        ],
      );
    }
    expect((await billing.publish(billId)).status).toBe(200);
  });
});

describe('published bill', () => {
  test.each(['crossdock_app', 'the owner of the tables'])(
    'rejects changes of the bill and its lines by %s',
    async (role) => {
      const billId = await newBill(billing, await billing.newCourier());
      const draftId = await newBill(billing, await billing.newCourier());
      await billing.publish(billId);
      const change = (statement: string) =>
        role === 'crossdock_app'
          ? makeContext(service().db, { kind: 'system', tenantId: DEMO.tenants.demo }, BACKGROUND).write(
              (tx) => tx.count(sql([statement])),
            )
          : service().owner.query(statement);
      for (const statement of [
        `update bills set total_amount = 1, subtotal = 1 where id = '${billId}'`,
        `update bills set remarks = 'x' where id = '${billId}'`,
        `update bills set status = 'draft', sequence_number = null where id = '${billId}'`,
        `update bills set bill_to = '{}' where id = '${billId}'`,
        `delete from bills where id = '${billId}'`,
        `update bill_lines set amount_usd = 1 where bill_id = '${billId}'`,
        `update bill_lines set bill_id = '${draftId}', position = 9 where bill_id = '${billId}'`,
        `update bill_lines set bill_id = '${billId}', position = 9 where bill_id = '${draftId}'`,
        `delete from bill_lines where bill_id = '${billId}'`,
        `insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
       select tenant_id, gen_random_uuid(), id, courier_id, 9, 'adjustment', 'x', 1 from bills where id = '${billId}'`,
      ])
        await expectNothingWritten(async () => expect(change(statement)).rejects.toThrow(/is published/));
      if (role === 'crossdock_app') {
        const { payment_id } = data(await billing.pay(billId, 5));
        for (const statement of [
          `update bill_payments set amount_usd = 1 where id = '${payment_id}'`,
          `delete from bill_payments where id = '${payment_id}'`,
        ])
          await expect(change(statement)).rejects.toThrow(/permission denied/);
      }
    },
  );

  test('is visible to its courier with masked numbers of unknown customers, while a draft is not', async () => {
    const [known, unknown] = await billing.addPackages(IEX, [
      { weight: '1' },
      { weight: '2', userCode: null },
    ]);
    const { bill_id } = data(await billing.draft(IEX));
    const hidden = await billing.read(bill_id, 'iex');
    expectError(hidden, 404, 'bill_not_found');
    const unknownBill = await billing.read(UNKNOWN_ID, 'iex');
    expect(hidden.body['message']).toBe(unknownBill.body['message']);
    await billing.publish(bill_id);
    const { lines } = data(await billing.read(bill_id, 'iex'));
    const staff = data(await billing.read(bill_id)).lines;
    const numberOf = (all: Record<string, unknown>[], id: string | undefined) =>
      String(all.find(({ package_id }) => package_id === id)?.['tracking_number']);
    expect(numberOf(lines, known)).toBe(numberOf(staff, known));
    const whole = numberOf(staff, unknown);
    expect(numberOf(lines, unknown)).toBe('*'.repeat(whole.length - 4) + whole.slice(-4));
    expectError(await billing.read(bill_id, 'hrb'), 404, 'bill_not_found');
    expectError(await billing.read(bill_id, 'warehouse'), 403, 'permission_denied');
    expectError(await billing.draft(IEX, {}, 'iex'), 403, 'permission_denied');
  });

  test('returns each line once across pages and no lines past the last page', async () => {
    const courierId = await billing.newCourier();
    await billing.addPackages(
      courierId,
      Array.from({ length: 7 }, () => ({ weight: '1' })),
    );
    const { bill_id } = data(await billing.draft(courierId));
    const positions = [];
    for (const page of [1, 2, 3]) {
      const { body } = await billing.read(bill_id, 'admin', { page, limit: 3 });
      expect(body['meta']).toEqual({ current_page: page, per_page: 3, total_records: 7, total_pages: 3 });
      positions.push(...body['data'].lines.map(({ position }: { position: number }) => position));
    }
    expect(positions).toEqual([1, 2, 3, 4, 5, 6, 7]);
    for (const query of [
      { page: 4, limit: 3 },
      { page: 1_000_000, limit: 20_000 },
    ]) {
      const { body, status } = await billing.read(bill_id, 'admin', query);
      expect([status, body['data'].lines]).toEqual([200, []]);
    }
  });
});

describe('payments', () => {
  test('a bill with 1,000 payments, voided ones included, takes no further payment', async () => {
    const billId = await newBill(billing, await billing.newCourier(), 0);
    await billing.publish(billId);
    expect((await billing.pay(billId, 0.01)).status).toBe(200);
    await billing.rows(
      `insert into bill_payments select (jsonb_populate_record(null::bill_payments, to_jsonb(p)
         || jsonb_build_object('id', new_id(), 'voided_at', now(), 'void_reason', 'x'))).*
       from bill_payments p, generate_series(1, 998) where p.bill_id = $1`,
      [billId],
    );
    expect((await billing.pay(billId, 0.01)).status).toBe(200);
    expectError(await billing.pay(billId, 0.01), 400, 'too_many_payments');
    const [bill] = await billing.rows('select paid_amount::text from bills where id = $1', [billId]);
    expect(bill).toEqual({ paid_amount: '0.02' });
  });

  test('add up, mark the bill as paid, and can be voided, which reopens the bill and keeps them marked as voided', async () => {
    const billId = await newBill(billing, await billing.newCourier(), 0.3);
    expectError(await billing.pay(billId, 1), 400, 'bill_not_published');
    await billing.publish(billId);
    const extra = { method: 'bank_transfer', reference: 'TRF-1', received_on: '2026-01-31' };
    const first = await billing.pay(billId, 0.1, extra);
    expect(data(first)).toEqual({
      bill_id: billId,
      payment_id: expect.any(String),
      paid_amount: 0.1,
      balance: 12.2,
      status: 'published',
    });
    const second = await billing.pay(billId, 12.2);
    expect(data(second)).toMatchObject({ paid_amount: 12.3, balance: 0, status: 'paid' });
    await expectNothingWritten(async () => {
      const reply = await billing.pay(billId, 0.01);
      expectError(reply, 400, 'payment_exceeds_balance');
      expect(reply.body['message']).toContain('0.00 USD');
    });
    const voided = await billing.unpay(data(first).payment_id, 'Returned.');
    expect([voided.body['message'], data(voided)]).toEqual([
      'Payment voided.',
      {
        bill_id: billId,
        payment_id: data(first).payment_id,
        paid_amount: 12.2,
        balance: 0.1,
        status: 'published',
      },
    ]);
    await expectNothingWritten(async () => {
      const again = await billing.unpay(data(first).payment_id.toUpperCase(), 'Another reason.');
      expect([again.status, again.body['message']]).toEqual([200, 'The payment was voided already.']);
      expect(data(again)).toEqual(data(voided));
      expect((await billing.pay(billId, 0.11)).body['message']).toContain('0.10 USD');
    });
    const today = new Date().toISOString().slice(0, 10);
    expect(data(await billing.read(billId))).toMatchObject({
      status: 'published',
      paid_amount: 12.2,
      balance: 0.1,
      payments: [
        { amount: 0.1, ...extra, is_voided: true, void_reason: 'Returned.', voided_at: expect.any(String) },
        {
          amount: 12.2,
          method: 'cash',
          reference: null,
          received_on: today,
          is_voided: false,
          voided_at: null,
        },
      ],
    });
    expect((await auditOf(billId)).slice(-3)).toMatchObject([
      {
        action: 'bill.payment_recorded',
        after: { amount_usd: '0.10', paid_amount: '0.10', reference: 'TRF-1' },
      },
      { action: 'bill.payment_recorded', before: { status: 'published' }, after: { status: 'paid' } },
      { action: 'bill.payment_voided', before: { status: 'paid' }, after: { void_reason: 'Returned.' } },
    ]);
  });

  test('are rejected for a future date, an amount above the balance, an unknown bill and another tenant', async () => {
    const billId = await newBill(billing, await billing.newCourier());
    await billing.publish(billId);
    const { payment_id } = data(await billing.pay(billId, 2));
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await expectNothingWritten(async () => {
      expectError(
        await billing.pay(billId, 1, { received_on: tomorrow }),
        400,
        'validation_failed',
        'received_on',
      );
      const tooMuch = await billing.pay(billId, 10.01);
      expectError(tooMuch, 400, 'payment_exceeds_balance');
      expect(tooMuch.body['message']).toBe(
        'The balance of the bill is 10.00 USD. Record a payment of at most that amount.',
      );
      expectError(await billing.pay(UNKNOWN_ID, 1), 404, 'bill_not_found');
      expectError(await billing.unpay(UNKNOWN_ID), 404, 'payment_not_found');
      const body = { action: 'void_payment', payment_id, reason: 'R' };
      expectError(await billing.manage(body, 'two/admin'), 404, 'payment_not_found');
    });
    expect((await billing.pay(billId, 10)).status).toBe(200);
  });
});

// Must run last: the fingerprints of other tests would take long with this many rows.
const DRAFTED = rounds(1_000, 100_000);
const LAST_PAGE = Math.ceil((DRAFTED + 1) / 20_000);

test(`drafts ${DRAFTED} packages in one statement and rejects more than 100,000`, async () => {
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
