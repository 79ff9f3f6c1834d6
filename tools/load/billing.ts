import type pg from 'pg';
import { partyOfCourier, partyOfWarehouse } from '../../src/modules/bills/detail/queries.js';
import { insertDraft } from '../../src/modules/bills/drafts/draft-queries.js';
import { addToSubtotal } from '../../src/modules/bills/payments/payment-queries.js';
import { makeContext, type UserContext } from '../../src/platform/context/request-context.js';
import type { Db } from '../../src/platform/db/database.js';
import { sql, type Sql } from '../../src/platform/db/statements.js';
import { insertRows, type Row } from '../../fixtures/demo/values/rows.js';
import type { Entry } from './history.js';
import type { PlannedCourier, TenantPlan } from './tenant-plan.js';
import { DAY_MS, dateOf, HOUR_MS, iso } from './values/time.js';

type Period = { firstMs: number; lastMs: number; isOver: boolean };

const TAX_PERCENT = '7.000';
const MAX_PACKAGES = 100_000;
/** In percent of the bills. */
const ADJUSTED = 15;

/**
 * Bills every courier by month, with the service's own statements for a draft: lines, fees and totals follow its rules. Bills of
 * past months are published and mostly paid. Returns the audit entries.
 *
 * @param client in the transaction that has inserted the packages
 */
export async function insertBills(client: pg.ClientBase, db: Db, plan: TenantPlan): Promise<Entry[]> {
  const caller = { kind: 'user', tenantId: plan.id, userId: plan.staff.manager, role: 'manager' } as const;
  const ctx = makeContext(db, { ...caller, courierId: null, tokenVersion: 1, expiresAt: 0 }, 'demo:load');
  const entries: Entry[] = [];
  let number = 0;
  for (const period of periodsOf(plan))
    for (const courier of plan.couriers) {
      const draft = await insertOne(client, ctx, plan, { period, courier });
      if (!draft) continue;
      entries.push(
        entryOf(plan, draft, 'bill.drafted', draft.createdMs, { invoice_number: draft.draftNumber }),
      );
      if (!period.isOver) continue;
      number += 1;
      entries.push(...(await publish(client, ctx, plan, { ...draft, number, courier })));
    }
  if (number > 0) await insertRows(client, 'bill_counters', [{ tenant_id: plan.id, last_number: number }]);
  return entries;
}

/** The calendar months of the period. A short period has two parts, so that it has bills of both kinds. */
function periodsOf({ startMs, endMs }: TenantPlan): Period[] {
  const starts = new Set([startMs]);
  for (let dayMs = startMs; dayMs < endMs; dayMs += DAY_MS)
    if (dateOf(dayMs).endsWith('-01')) starts.add(dayMs);
  if (starts.size === 1) starts.add(startMs + Math.floor((endMs - startMs) / DAY_MS / 2) * DAY_MS);
  const firsts = [...starts];
  return firsts.map((firstMs, n) => {
    const next = firsts[n + 1];
    return { firstMs, lastMs: (next ?? endMs) - DAY_MS, isOver: next !== undefined };
  });
}

type Draft = { id: string; createdMs: number; draftNumber: string };
type Subject = { period: Period; courier: PlannedCourier };

async function insertOne(
  client: pg.ClientBase,
  ctx: UserContext,
  { id: tenantId, random }: TenantPlan,
  { period, courier }: Subject,
): Promise<Draft | undefined> {
  // The first morning after the period, or the last evening of a period that goes on.
  const createdMs = period.lastMs + (period.isOver ? 33 : 20) * HOUR_MS + random.whole(0, 3_000) * 1_000;
  const draft = { id: random.id(createdMs), createdMs, draftNumber: `DRAFT-${random.digits(8)}` };
  const [stored] = await run<{ isStored: boolean }>(
    client,
    insertDraft(ctx, {
      id: draft.id,
      invoiceNumber: draft.draftNumber,
      period: { courierId: courier.id, startDate: dateOf(period.firstMs), endDate: dateOf(period.lastMs) },
      serviceType: 'Air standard',
      taxRate: TAX_PERCENT,
      remarks: null,
      maxPackages: MAX_PACKAGES,
    }),
  );
  if (!stored?.isStored) return undefined;
  if (random.isOne(ADJUSTED)) {
    await run(client, addToSubtotal(ctx, draft.id, '2.50'));
    await run(
      client,
      sql`insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
        select tenant_id, ${random.id(createdMs)}::uuid, bill_id, courier_id, max(position) + 1, 'adjustment',
          'Repacking of a damaged box', 2.50
        from bill_lines where tenant_id = ${tenantId}::uuid and bill_id = ${draft.id}::uuid group by 1, 3, 4`,
    );
  }
  await run(
    client,
    sql`update bills set created_at = ${iso(createdMs)}::timestamptz where tenant_id = ${tenantId}::uuid and id = ${draft.id}::uuid`,
  );
  return draft;
}

type Published = Draft & { number: number; courier: PlannedCourier };

async function publish(
  client: pg.ClientBase,
  ctx: UserContext,
  plan: TenantPlan,
  { number, courier, ...draft }: Published,
): Promise<Entry[]> {
  const { random, endMs } = plan;
  const publishedMs = draft.createdMs + HOUR_MS;
  const invoiceNumber = `INV-${String(number).padStart(6, '0')}`;
  const [bill] = await run<{ total: string }>(
    client,
    sql`update bills b set status = case when b.total_amount = 0 then 'paid' else 'published' end,
        sequence_number = ${number}::int, invoice_number = ${invoiceNumber}, published_at = ${iso(publishedMs)}::timestamptz,
        bill_from = ${partyOfWarehouse}, bill_to = ${partyOfCourier}
      from tenants o left join warehouses w on w.tenant_id = o.id and w.is_primary, couriers c
      where b.tenant_id = ${ctx.tenantId}::uuid and b.id = ${draft.id}::uuid and o.id = b.tenant_id
        and c.tenant_id = b.tenant_id and c.id = b.courier_id
      returning b.total_amount::text as total`,
  );
  const total = Number(bill?.total ?? 0);
  const published = entryOf(plan, draft, 'bill.published', publishedMs, { invoice_number: invoiceNumber });
  const paidMs = publishedMs + random.whole(2, 20) * DAY_MS;
  if (total === 0 || paidMs >= endMs) return [published];
  const part = random.isOne(75) ? 1 : 0.5;
  const amount = part === 1 ? total : Math.floor(total * part);
  if (amount === 0) return [published];
  const paymentId = random.id(paidMs);
  await insertRows(client, 'bill_payments', paymentRows(plan, { draft, courier, paymentId, amount, paidMs }));
  await run(
    client,
    sql`update bills set paid_amount = ${amount.toFixed(2)}::numeric, status = ${part === 1 ? 'paid' : 'published'}
      where tenant_id = ${ctx.tenantId}::uuid and id = ${draft.id}::uuid`,
  );
  const recorded = { payment_id: paymentId, amount_usd: amount.toFixed(2), method: 'bank_transfer' };
  return [published, entryOf(plan, draft, 'bill.payment_recorded', paidMs, recorded)];
}

type Payment = { draft: Draft; courier: PlannedCourier; paymentId: string; amount: number; paidMs: number };

/** The payment, and for some bills one with a mistake that was voided. */
function paymentRows(plan: TenantPlan, { draft, courier, paymentId, amount, paidMs }: Payment): Row[] {
  const { random } = plan;
  const row = {
    ...{ tenant_id: plan.id, id: paymentId, bill_id: draft.id, courier_id: courier.id },
    ...{ amount_usd: amount.toFixed(2), method: 'bank_transfer', reference: `TRF-${random.digits(6)}` },
    received_on: dateOf(paidMs),
    recorded_at: iso(paidMs),
    voided_at: null,
    void_reason: null,
  };
  if (!random.isOne(10)) return [row];
  const voided = { voided_at: iso(paidMs), void_reason: 'Recorded for the wrong courier' };
  return [row, { ...row, id: random.id(paidMs), ...voided }];
}

const entryOf = (plan: TenantPlan, { id }: Draft, action: string, atMs: number, after: object): Entry => ({
  ...{ atMs, actorKind: 'user', actorId: plan.staff.manager, action, entity: 'bill', entityId: id, after },
});

async function run<Result extends object>(client: pg.ClientBase, statement: Sql): Promise<Result[]> {
  return (await client.query<Result>(statement.text, statement.values)).rows;
}
