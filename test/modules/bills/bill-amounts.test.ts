import { randomInt } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { rounds } from '../../support/harness/effort.js';
import { MAY, newBill } from '../../support/builders/billing.js';
import { data, expectError, UNKNOWN_ID, withBilling } from './billing-calls.js';

const { api, billing, expectNothingWritten, auditOf, linesOf } = withBilling();

describe('draft creation', () => {
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
      expect(reply.body['message']).toContain('is 0.00.');
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
      expect((await billing.pay(billId, 0.11)).body['message']).toContain('is 0.10.');
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
        'The balance of the bill is 10.00. Record a payment of at most that amount.',
      );
      expectError(await billing.pay(UNKNOWN_ID, 1), 404, 'bill_not_found');
      expectError(await billing.unpay(UNKNOWN_ID), 404, 'payment_not_found');
      const body = { action: 'void_payment', payment_id, reason: 'R' };
      expectError(await billing.manage(body, 'two/admin'), 404, 'payment_not_found');
    });
    expect((await billing.pay(billId, 10)).status).toBe(200);
  });
});
