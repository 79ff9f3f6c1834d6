import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import type { Ctx } from '../shared/context.js';
import { partyOfCourier, partyOfWarehouse } from '../detail/queries.js';
import type { BillRow } from '../list/queries.js';

export type PublishedRow = {
  invoice_number: string;
  sequence_number: number;
  status: BillRow['status'];
  total_amount: string;
  published_at: Date;
};

/**
 * Gives a draft the tenant's next number and freezes its parties. Returns undefined if the lines do not add
 * up to the total. The counter's row stays locked until the end of the transaction, so that numbers are in
 * the order of commits, and a failed transaction leaves no gap.
 */
export async function publishDraft(
  { db, tx, caller }: Ctx,
  billId: string,
): Promise<PublishedRow | undefined> {
  const rows = await tx.query<PublishedRow>(sql`
    with tied as (
      select b.tenant_id, b.id
      from bills b cross join lateral (
        select coalesce(sum(l.amount_usd), 0) as subtotal, count(l.package_id) as packages
        from bill_lines l where ${tenantRows(db, caller, 'l')} and l.tenant_id = b.tenant_id and l.bill_id = b.id) as s
      where ${ownRows(db, caller, 'b')} and b.id = ${billId}::uuid and b.status = 'draft'
        and s.subtotal = b.subtotal and s.packages = b.total_packages
        and round(b.subtotal * b.tax_rate / 100, 2) = b.tax_amount),
    counted as (
      insert into bill_counters (tenant_id, last_number) select tenant_id, 1 from tied
      on conflict (tenant_id) do update set last_number = bill_counters.last_number + 1
      returning tenant_id, last_number)
    update bills b
    set status = case when b.total_amount = 0 then 'paid' else 'published' end,
      sequence_number = n.last_number,
      invoice_number = 'INV-' || lpad(n.last_number::text, greatest(6, length(n.last_number::text)), '0'),
      -- not now(): that is when the transaction began, which may have waited for the counter
      published_at = clock_timestamp(), bill_from = ${partyOfWarehouse}, bill_to = ${partyOfCourier}
    from tied t
    join counted n on n.tenant_id = t.tenant_id
    join tenants o on o.id = t.tenant_id
    left join warehouses w on ${tenantRows(db, caller, 'w')} and w.tenant_id = t.tenant_id and w.is_primary,
      couriers c
    where b.tenant_id = t.tenant_id and b.id = t.id and b.status = 'draft'
      and ${tenantRows(db, caller, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    returning b.invoice_number, b.sequence_number, b.status, b.total_amount::text, b.published_at`);
  return rows[0];
}
