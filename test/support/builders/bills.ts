import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DEMO } from '../../../fixtures/demo/demo.js';

type InsertedPayment = {
  amount: string;
  receivedOn: string;
  recordedAt?: string;
  voidedAt?: string;
  reference?: string;
};

/** A package on a bill. Weight and courier default to those of the package. */
type InsertedLine = { packageId: string; amount: string; tier?: string | null; weight?: string };

export type InsertedBill = {
  courierId: string;
  tenantId?: string;
  start: string;
  end: string;
  /** A bill without this time stays a draft. */
  publishedAt?: string;
  taxRate?: string;
  lines?: InsertedLine[];
  /** The amount of an adjustment, the only charge of a bill without packages. */
  amount?: string;
  payments?: InsertedPayment[];
};

let serial = 0;

/**
 * Plants a consistent bill. It starts as a draft, because a published bill accepts no lines. Returns its id and its
 * payment ids.
 */
export async function insertBill(
  owner: pg.Pool,
  bill: InsertedBill,
): Promise<{ id: string; paymentIds: string[] }> {
  const { courierId, tenantId = DEMO.tenants.demo, lines = [], payments = [], taxRate = '0' } = bill;
  const id = randomUUID();
  await owner.query(
    `insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
       tax_rate, subtotal, tax_amount, total_amount)
     values ($1, $2, $3, $4, 'Air standard', $5, $6, $7, $8, 0, 0, 0)`,
    [tenantId, id, `PLANTED-${(serial += 1)}`, courierId, bill.start, bill.end, lines.length, taxRate],
  );
  await owner.query(
    `insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, package_id, tracking_number,
       house_number, user_code, received_at, weight_lb, tier, amount_usd)
     select p.tenant_id, new_id(), $1, $2, n, 'package', p.id, p.tracking_number, p.house_number, p.user_code,
       p.received_at, coalesce(l.weight::numeric, p.weight_lb), l.tier, l.amount
     from rows from (jsonb_to_recordset($3) as ("packageId" uuid, amount numeric, tier text, weight text))
       with ordinality as l (package_id, amount, tier, weight, n)
     join packages p on p.id = l.package_id`,
    [id, courierId, JSON.stringify(lines.map((line) => ({ tier: '0-1000 lb', ...line })))],
  );
  if (bill.amount) {
    await owner.query(
      `insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
       values ($1, new_id(), $2, $3, $4, 'adjustment', 'Handling', $5)`,
      [tenantId, id, courierId, lines.length + 1, bill.amount],
    );
  }
  await owner.query(
    `update bills b set subtotal = s.subtotal, tax_amount = round(s.subtotal * tax_rate / 100, 2),
       total_amount = s.subtotal + round(s.subtotal * tax_rate / 100, 2)
     from (select coalesce(sum(amount_usd), 0) as subtotal from bill_lines where bill_id = $1) s where b.id = $1`,
    [id],
  );
  if (bill.publishedAt) await publish(owner, id, bill.publishedAt);
  const paymentIds: string[] = [];
  for (const payment of payments) paymentIds.push(await pay(owner, id, payment));
  return { id, paymentIds };
}

async function publish(owner: pg.Pool, billId: string, publishedAt: string): Promise<void> {
  await owner.query(`update bills set status = 'published', published_at = $2 where id = $1`, [
    billId,
    publishedAt,
  ]);
}

/** Adds a payment to a published bill and updates its paid amount and status. */
async function pay(owner: pg.Pool, billId: string, payment: InsertedPayment): Promise<string> {
  const id = randomUUID();
  const { amount, receivedOn, recordedAt = `${receivedOn}T12:00:00Z`, voidedAt = null } = payment;
  await owner.query(
    `insert into bill_payments (tenant_id, id, bill_id, courier_id, amount_usd, method, reference, received_on,
       recorded_at, voided_at, void_reason)
     select tenant_id, $2, id, courier_id, $3, 'bank_transfer', $4, $5, $6, $7, case when $7::timestamptz is not null then 'A mistake' end
     from bills where id = $1`,
    [billId, id, amount, payment.reference ?? null, receivedOn, recordedAt, voidedAt],
  );
  await owner.query(
    `update bills b set paid_amount = p.paid, status = case when p.paid = b.total_amount then 'paid' else 'published' end
     from (select coalesce(sum(amount_usd) filter (where voided_at is null), 0) as paid from bill_payments where bill_id = $1) p
     where b.id = $1`,
    [billId],
  );
  return id;
}

/** Returns a period that covers all packages of the demo data and is short enough for a reconciliation. */
export function lastYear(): { from: string; to: string } {
  const dayFromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  return { from: dayFromNow(-364), to: dayFromNow(1) };
}
