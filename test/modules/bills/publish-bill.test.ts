import { describe, expect, test } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { BACKGROUND } from '../../../src/platform/audit/audit.js';
import { makeContext } from '../../../src/platform/context/request-context.js';
import { sql } from '../../../src/platform/db/statements.js';
import { newBill } from '../../support/builders/billing.js';
import { type Reply } from '../../support/service/service.js';
import { data, expectError, UNKNOWN_ID, withBilling } from './billing-calls.js';

const { IEX } = DEMO.couriers;

const { service, billing, expectNothingWritten, auditOf } = withBilling();

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
      due_date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
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
      due_date: data(reply).due_date,
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
