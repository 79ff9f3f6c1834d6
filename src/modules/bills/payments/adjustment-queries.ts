import { ownRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { MAX_USD, type TotalsRow } from '../shared/totals.js';

/**
 * Adds an amount to a draft's subtotal, and computes the tax and the total again. Returns no row if a total would be
 * out of range.
 */
export const addToSubtotal = (ctx: UserScope, billId: string, amountUsd: string): Sql<TotalsRow> =>
  sql`update bills b set subtotal = n.subtotal, tax_amount = n.tax_amount, total_amount = n.subtotal + n.tax_amount
    from (
      select d.tenant_id, d.id, d.subtotal + change.usd as subtotal,
        round((d.subtotal + change.usd) * d.tax_rate / 100, 2) as tax_amount
      from bills d cross join (select ${amountUsd}::numeric as usd) as change
      where ${ownRows(ctx, 'd')} and d.id = ${billId}::uuid) as n
    where ${ownRows(ctx, 'b')} and b.tenant_id = n.tenant_id and b.id = n.id and b.status = 'draft'
      and n.subtotal >= 0 and n.subtotal + n.tax_amount <= ${MAX_USD}::numeric
    returning b.subtotal::text, b.tax_amount::text as "taxAmount", b.total_amount::text as "totalAmount"`;
