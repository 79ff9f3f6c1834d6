import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, tenantRows } from '../../../platform/db/filters.js';
import { limitTo } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { billColumns, isOverdue, visibleBills, type BillRow } from '../shared/bill-row.js';

export type BillQuery = QueryOf<'listCourierBills'>;

/** One page, newest first. The id breaks ties, so that no page repeats a bill. */
export const pageOfBills = (ctx: UserScope, query: BillQuery): Sql<BillRow> =>
  sql`select ${billColumns(ctx)}
    from bills b
    join couriers c on ${tenantRows(ctx, 'c')} and c.tenant_id = b.tenant_id and c.id = b.courier_id
    where ${matching(ctx, query)}
    order by b.created_at desc, b.id desc
    ${limitTo(query)}`;

export const countOfBills = (ctx: UserScope, query: BillQuery): Sql<{ total: number }> =>
  sql`select count(*)::int as total from bills b where ${matching(ctx, query)}`;

const matching = (ctx: UserScope, { courier_id: courierId, status, overdue, from, to }: BillQuery): Sql =>
  allOf(
    visibleBills(ctx),
    // A courier only ever sees its own bills, whatever courier_id says.
    ctx.caller.courierId === null && courierId && sql`b.courier_id = ${courierId}::uuid`,
    status && sql`b.status = ${status}`,
    overdue === true && isOverdue,
    overdue === false && sql`not ${isOverdue}`,
    from && sql`b.end_date >= ${from}::date`,
    to && sql`b.start_date <= ${to}::date`,
  );
