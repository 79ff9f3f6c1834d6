import { allOf, fromDay, ownRows, tenantRows, untilDay } from '../../../platform/db/filters.js';
import { limitTo, type PageQuery } from '../../../platform/db/pages.js';
import { once, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import {
  airFreightUsd,
  courierTiers,
  gapsAsJson,
  groupPackages,
  receivedInPeriod,
  sumGroups,
  type GapsRow,
} from '../../invoices/public.js';
import { dueDateOfPublished, type BillStatus } from '../shared/bill-row.js';
import { isSent } from '../shared/mailed.js';
import type { MonthPeriod } from '../../../platform/values/time.js';

export type CourierRow = { courierId: string; courierName: string; courierCode: string };

/** One page of the tenant's couriers by name, each with the address for its bills. */
export const pageOfCouriers = (ctx: UserScope, page: PageQuery): Sql<CourierRow & { email: string | null }> =>
  sql`select c.id as "courierId", c.name as "courierName", c.code as "courierCode", c.email
    from couriers c where ${tenantRows(ctx, 'c')} order by c.name, c.id ${limitTo(page)}`;

export const countOfCouriers = (ctx: UserScope): Sql<{ total: number }> =>
  sql`select count(*)::int as total from couriers c where ${tenantRows(ctx, 'c')}`;

/** The amount is decimal text. */
export type SumsRow = { bills: number; amount: string };

/** The bills of the month of all couriers. A bill belongs to the month of its last day. */
export const sumsOfMonth = (
  ctx: UserScope,
  month: MonthPeriod,
): Sql<{ drafts: SumsRow; published: SumsRow }> =>
  sql`select ${sumsAsJson(sql`b.status = 'draft'`)} as drafts, ${sumsAsJson(sql`b.status <> 'draft'`)} as published
    from bills b where ${billsOfMonth(ctx, month)}`;

// The amount is text, so that no JSON parser converts it to a float.
const sumsAsJson = (condition: Sql): Sql =>
  sql`json_build_object('bills', count(*) filter (where ${condition}),
    'amount', coalesce(sum(b.total_amount) filter (where ${condition}), 0)::text)`;

/** A bill belongs to the month of its last day. */
export const billsOfMonth = (ctx: UserScope, { startDate, endDate }: MonthPeriod): Sql =>
  sql`${ownRows(ctx, 'b')} and b.end_date between ${startDate}::date and ${endDate}::date`;

/** The packages of the month that belong to no courier. */
export const countOfOwnerless = (ctx: UserScope, month: MonthPeriod): Sql<{ total: number }> =>
  sql`select count(*)::int as total from packages p
    where ${ownRows(ctx, 'p')} and p.courier_id is null and ${receivedInMonth(month)}`;

const receivedInMonth = ({ startDate, endDate }: MonthPeriod): Sql =>
  sql`${fromDay(sql`p.received_at`, startDate)} and ${untilDay(sql`p.received_at`, endDate)}`;

/** What a draft would bill now. The amount is decimal text, without tax. */
export type UnbilledRow = GapsRow & { packages: number; amount: string };

/** The courier's packages of the month that are on no bill, with the fees and the air freight that a draft computes. */
export function sumsOfUnbilled(ctx: UserScope, courierId: string, month: MonthPeriod): Sql<UnbilledRow> {
  const period = { courierId, ...month };
  const unbilled = sql`packages p where ${receivedInPeriod(ctx, period)} and not exists (
    select from bill_lines l where ${tenantRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id)`;
  // Planned once: planning it for each courier of a page took most of the time.
  return once`with ${courierTiers(ctx, period)}, ${groupPackages(unbilled)}, ${sumGroups(ctx)}
    select t.total_packages as packages, (t.total_fees + ${airFreightUsd})::text as amount, ${gapsAsJson}
    from totals t join couriers c on ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

/** A bill in a run. Dates and the amount are text. */
export type RunBillRow = {
  courierId: string;
  billId: string;
  invoiceNumber: string;
  status: BillStatus;
  startDate: string;
  endDate: string;
  totalPackages: number;
  totalAmount: string;
  dueDate: string | null;
};

/** The columns of a RunBillRow, from `bills b`. */
export const runBillColumns = sql`b.courier_id as "courierId", b.id as "billId", b.invoice_number as "invoiceNumber", b.status,
  b.start_date::text as "startDate", b.end_date::text as "endDate", b.total_packages as "totalPackages",
  b.total_amount::text as "totalAmount", case when b.status <> 'draft' then ${dueDateOfPublished} end::text as "dueDate"`;

/** The newest bills, or drafts, of the month of each courier, newest first. */
export const billsOfCouriers = (
  ctx: UserScope,
  courierIds: string[],
  month: MonthPeriod,
  { limit, isDraft = false }: { limit: number; isDraft?: boolean },
): Sql<RunBillRow> =>
  sql`select ${runBillColumns} from unnest(${courierIds}::uuid[]) as chosen (id)
    cross join lateral (
      select b.* from bills b
      where ${allOf(billsOfMonth(ctx, month), isDraft && sql`b.status = 'draft'`)} and b.courier_id = chosen.id
      order by b.created_at desc, b.id desc limit ${limit}::int) as b
    order by b.courier_id, b.created_at desc, b.id desc`;

/** `sentBills` are the published bills that were sent or are queued. */
export type CourierSumsRow = { courierId: string; drafts: SumsRow; published: SumsRow; sentBills: number };

/** The bills of the month of each courier that has any. */
export const sumsOfCouriers = (
  ctx: UserScope,
  courierIds: string[],
  month: MonthPeriod,
): Sql<CourierSumsRow> =>
  sql`select b.courier_id as "courierId", ${sumsAsJson(sql`b.status = 'draft'`)} as drafts,
      ${sumsAsJson(sql`b.status <> 'draft'`)} as published, count(*) filter (where ${isSent(ctx)})::int as "sentBills"
    from bills b where ${billsOfMonth(ctx, month)} and b.courier_id = any(${courierIds}::uuid[])
    group by b.courier_id`;

/** The couriers' packages of the month that another courier has announced too, and that staff have not reviewed. */
export const disputedOfCouriers = (
  ctx: UserScope,
  courierIds: string[],
  month: MonthPeriod,
): Sql<{ courierId: string; packages: number }> =>
  sql`select p.courier_id as "courierId", count(distinct p.id)::int as packages
    from prealerts a join packages p on ${ownRows(ctx, 'p')} and p.tenant_id = a.tenant_id and p.tracking_key = a.tracking_key
    where ${ownRows(ctx, 'a')} and a.status = 'flagged' and a.courier_id <> p.courier_id
      and p.courier_id = any(${courierIds}::uuid[]) and ${receivedInMonth(month)}
    group by p.courier_id`;
