import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/transaction.js';
import { MAX_USD, type Ctx } from '../shared/context.js';

/** Decimal text. */
export type TotalsRow = { subtotal: string; tax_amount: string; total_amount: string };

/** Appends a line and adds its amount to the draft. Returns undefined if the totals would be out of range. */
export async function insertAdjustment(
  ctx: Ctx,
  line: { id: string; billId: string; description: string; amountUsd: string },
): Promise<TotalsRow | undefined> {
  const { id, billId, description, amountUsd } = line;
  const rows = await ctx.tx.query<TotalsRow>(sql`
    with ${chargedDraft(ctx, billId, sql`(select ${amountUsd}::numeric as usd) as charge`)},
      added as (
        insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, description, amount_usd)
        select c.tenant_id, ${id}::uuid, c.id, c.courier_id,
          coalesce((select max(l.position) from bill_lines l where l.tenant_id = c.tenant_id and l.bill_id = c.id), 0) + 1,
          'adjustment', ${description}, ${amountUsd}::numeric
        from charged c)
    select subtotal::text, tax_amount::text, total_amount::text from charged`);
  return rows[0];
}

/** Returns the bill of an adjustment, or undefined if the tenant has no such adjustment. */
export async function findBillOfAdjustment(ctx: Ctx, lineId: string): Promise<string | undefined> {
  const rows = await ctx.tx.query<{ bill_id: string }>(sql`
    select l.bill_id from bill_lines l
    where ${ownRows(ctx.db, ctx.caller, 'l')} and l.id = ${lineId}::uuid and l.kind = 'adjustment'`);
  return rows[0]?.bill_id;
}

export type RemovedRow = { description: string; amount_usd: string };

export async function deleteAdjustment(ctx: Ctx, lineId: string): Promise<RemovedRow | undefined> {
  const rows = await ctx.tx.query<RemovedRow>(sql`
    delete from bill_lines l
    where ${ownRows(ctx.db, ctx.caller, 'l')} and l.id = ${lineId}::uuid and l.kind = 'adjustment'
    returning l.description, l.amount_usd::text`);
  return rows[0];
}

/**
 * Subtracts the amount of a removed line from the draft. Returns undefined if the totals would be out of
 * range.
 */
export async function subtractAmount(
  ctx: Ctx,
  billId: string,
  amountUsd: string,
): Promise<TotalsRow | undefined> {
  const rows = await ctx.tx.query<TotalsRow>(sql`
    with ${chargedDraft(ctx, billId, sql`(select -${amountUsd}::numeric as usd) as charge`)}
    select subtotal::text, tax_amount::text, total_amount::text from charged`);
  return rows[0];
}

/** `charged`: the draft with a changed subtotal and all totals that depend on it. */
function chargedDraft({ db, caller }: Ctx, billId: string, charge: Sql): Sql {
  return sql`charged as (
    update bills b set subtotal = n.subtotal, tax_amount = n.tax_amount, total_amount = n.subtotal + n.tax_amount
    from (
      select d.tenant_id, d.id, d.subtotal + charge.usd as subtotal,
        round((d.subtotal + charge.usd) * d.tax_rate / 100, 2) as tax_amount
      from bills d cross join ${charge}
      where ${ownRows(db, caller, 'd')} and d.id = ${billId}::uuid) as n
    where ${ownRows(db, caller, 'b')} and b.tenant_id = n.tenant_id and b.id = n.id and b.status = 'draft'
      and n.subtotal >= 0 and n.subtotal + n.tax_amount <= ${MAX_USD}::numeric
    returning b.tenant_id, b.id, b.courier_id, b.subtotal, b.tax_amount, b.total_amount)`;
}
