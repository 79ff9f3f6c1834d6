import type { UserCaller } from '../../../platform/identity/callers.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Db, type Sql } from '../../../platform/db/transaction.js';
import { visibleBills } from '../detail/queries.js';

/** Counts the lines of the bill, at most to `enough`. */
export function countLines(db: Db, caller: UserCaller, billId: string, enough: number): Sql {
  return sql`select count(*)::int as total from (
      select from bill_lines l join bills b on b.tenant_id = l.tenant_id and b.id = l.bill_id
      where ${ownRows(db, caller, 'l')} and ${visibleBills(db, caller)} and l.bill_id = ${billId}::uuid
      limit ${enough}::int) as lines`;
}

/** Selects the current logo of the billed courier. */
export function logoOfBill(db: Db, caller: UserCaller, billId: string): Sql {
  return sql`select g.courier_id, g.content_hash, g.raster,
      case when g.raster is null and g.raster_failed_at is null then g.content end as undrawn
    from courier_logos g join bills b on b.tenant_id = g.tenant_id and b.courier_id = g.courier_id
    where ${tenantRows(db, caller, 'g')} and ${visibleBills(db, caller)} and b.id = ${billId}::uuid`;
}
