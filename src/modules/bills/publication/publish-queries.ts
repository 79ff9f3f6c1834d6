import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type RowOf, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { partyOfCourier, partyOfWarehouse } from '../detail/queries.js';
import { termsOf } from '../payment-terms/queries.js';
import type { BillStatus } from '../shared/bill-row.js';
import { columns } from '../../../platform/db/columns.js';

const BILL = columns('Bill', 'b', [
  'invoiceNumber',
  'sequenceNumber',
  'status',
  'totalAmount',
  'publishedAt',
  'dueDate',
]);

/** `dueDate` is text. */
export type PublishedRow = Omit<RowOf<typeof BILL>, 'dueDate'> & {
  sequenceNumber: number;
  status: BillStatus;
  publishedAt: Date;
  dueDate: string;
};

/**
 * Gives a draft the tenant's next number and freezes its parties. Returns no row if the lines do not add
 * up to the total. The counter's row stays locked until the end of the transaction, so that numbers are in
 * the order of commits, and a failed transaction leaves no gap. The bill is due when the courier's present payment terms
 * end.
 */
export const publishDraft = (ctx: UserScope, billId: string): Sql<PublishedRow> =>
  sql`with consistent as (
      select b.tenant_id, b.id
      from bills b cross join lateral (
        select coalesce(sum(l.amount_usd), 0) as subtotal, count(l.package_id) as packages
        from bill_lines l where ${tenantRows(ctx, 'l')} and l.tenant_id = b.tenant_id and l.bill_id = b.id) as s
      where ${ownRows(ctx, 'b')} and b.id = ${billId}::uuid and b.status = 'draft'
        and s.subtotal = b.subtotal and s.packages = b.total_packages
        and round(b.subtotal * b.tax_rate / 100, 2) = b.tax_amount),
    counted as (
      insert into bill_counters (tenant_id, last_number) select tenant_id, 1 from consistent
      on conflict (tenant_id) do update set last_number = bill_counters.last_number + 1
      -- not now(), the start of the transaction, which may have waited for the counter since; rounded as the column is
      returning tenant_id, last_number, clock_timestamp()::timestamptz(3) as published_at)
    update bills b
    set status = case when b.total_amount = 0 then 'paid' else 'published' end,
      sequence_number = n.last_number,
      invoice_number = 'INV-' || lpad(n.last_number::text, greatest(6, length(n.last_number::text)), '0'),
      published_at = n.published_at, due_date = (n.published_at at time zone 'UTC')::date + ${termsOf(ctx, sql`b.courier_id`)},
      bill_from = ${partyOfWarehouse}, bill_to = ${partyOfCourier}
    from consistent t
    join counted n on n.tenant_id = t.tenant_id
    join tenants o on o.id = t.tenant_id
    left join warehouses w on ${tenantRows(ctx, 'w')} and w.tenant_id = t.tenant_id and w.is_primary,
      couriers c
    where b.tenant_id = t.tenant_id and b.id = t.id and b.status = 'draft'
      and ${tenantRows(ctx, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    returning ${BILL}`;
