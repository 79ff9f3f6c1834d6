import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { StoredLogo } from '../../couriers/public.js';
import { visibleBills, type BillScope } from '../shared/bill-row.js';

/** The number of lines of the bill, or `max` if it has more. */
export const countOfLines = (ctx: BillScope, billId: string, max: number): Sql<{ total: number }> =>
  sql`select count(*)::int as total from (
      select from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
      where ${ownRows(ctx, 'l')} and ${visibleBills(ctx)} and l.bill_id = ${billId}::uuid
      limit ${max}::int) as lines`;

/** The current logo of the billed courier. */
export const logoOfBill = (ctx: BillScope, billId: string): Sql<StoredLogo> =>
  sql`select g.courier_id, g.content_hash, g.raster,
      case when g.raster is null and g.raster_failed_at is null then g.content end as undrawn
    from courier_logos g join bills b on b.tenant_id = g.tenant_id and b.courier_id = g.courier_id
    where ${tenantRows(ctx, 'g')} and ${visibleBills(ctx)} and b.id = ${billId}::uuid`;
