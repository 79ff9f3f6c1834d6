import { allOf, tenantRows } from '../../../platform/db/filters.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { billsOfMonth, runBillColumns, type CourierRow, type RunBillRow } from './list-queries.js';
import type { MonthPeriod } from '../../../platform/values/time.js';

/** The ids of couriers after an id, in their order. */
export const idsOfCouriers = (
  ctx: UserScope,
  after: string | undefined,
  limit: number,
): Sql<{ id: string }> =>
  sql`select c.id from couriers c
    where ${allOf(tenantRows(ctx, 'c'), after !== undefined && sql`c.id > ${after}::uuid`)}
    order by c.id limit ${limit}::int`;

/** Couriers by their ids. */
export const couriersById = (ctx: UserScope, ids: string[]): Sql<CourierRow> =>
  sql`select c.id as "courierId", c.name as "courierName", c.code as "courierCode"
    from couriers c where ${tenantRows(ctx, 'c')} and c.id = any(${ids}::uuid[]) order by c.id`;

/** Locks couriers by id until the end of the transaction, as a single draft locks its courier. */
export const lockCouriers = (ctx: UserScope, ids: string[]): Sql<CourierRow> =>
  sql`${couriersById(ctx, ids)} for no key update`;

type BillsChoice = {
  month: MonthPeriod;
  /** If undefined, those of all couriers. */
  courierIds: string[] | undefined;
  after: string | undefined;
  limit: number;
};

/**
 * The drafts whose last day is in the month, by courier and id. They are locked until the end of the transaction in this order, as a
 * single publication locks its bill.
 */
export const lockDraftsOfMonth = (
  ctx: UserScope,
  { month, courierIds, after, limit }: BillsChoice,
): Sql<RunBillRow> =>
  sql`select ${runBillColumns} from bills b
    where ${allOf(
      billsOfMonth(ctx, month),
      sql`b.status = 'draft'`,
      courierIds !== undefined && sql`b.courier_id = any(${courierIds}::uuid[])`,
      after !== undefined && sql`b.courier_id > ${after}::uuid`,
    )}
    order by b.courier_id, b.id limit ${limit}::int for update`;

/** How many published bills each courier has in the month, for the couriers that have any, in the order of their ids. */
export const countsOfPublished = (
  ctx: UserScope,
  { month, courierIds, after, limit }: BillsChoice,
): Sql<{ courierId: string; bills: number }> =>
  sql`select b.courier_id as "courierId", count(*)::int as bills from bills b
    where ${allOf(
      billsOfMonth(ctx, month),
      sql`b.status <> 'draft'`,
      courierIds !== undefined && sql`b.courier_id = any(${courierIds}::uuid[])`,
      after !== undefined && sql`b.courier_id > ${after}::uuid`,
    )}
    group by b.courier_id order by b.courier_id limit ${limit}::int`;

/**
 * The published bills of couriers whose last day is in the month, by courier and id. They are locked until the end of the transaction in
 * this order, as the sending of a single bill locks it.
 */
export const lockPublishedOfMonth = (
  ctx: UserScope,
  courierIds: string[],
  month: MonthPeriod,
): Sql<RunBillRow> =>
  sql`select ${runBillColumns} from bills b
    where ${billsOfMonth(ctx, month)} and b.status <> 'draft' and b.courier_id = any(${courierIds}::uuid[])
    order by b.courier_id, b.id for update`;
