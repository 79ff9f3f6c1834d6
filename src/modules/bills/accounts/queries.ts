import type { QueryOf } from '../../../platform/contract/types.js';
import { allOf, ownRows, tenantRows } from '../../../platform/db/filters.js';
import { limitTo } from '../../../platform/db/pages.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { dueDateOfPublished } from '../shared/bill-row.js';

export type AccountsQuery = QueryOf<'listCourierStatements'>;

/** Amounts are decimal text. */
export type SumsRow = {
  balance: string;
  overdue: string;
  unpaid_bills: number;
  late_0: string;
  late_1_30: string;
  late_31_60: string;
  late_61_90: string;
  late_over_90: string;
};

/** `oldest_due_date` is text. */
export type AccountRow = SumsRow & {
  courier_id: string;
  courier_name: string;
  courier_code: string;
  oldest_due_date: string | null;
};

/**
 * One page, the largest overdue amount first. Only unpaid bills are read, by their index: a bill with an outstanding amount is `published`,
 * and a payment never exceeds it, so that the sums are those of a statement until today.
 */
export const pageOfAccounts = (ctx: UserScope, query: AccountsQuery): Sql<AccountRow> =>
  sql`with ${sumsByCourier(ctx)}
    select c.id as courier_id, c.name as courier_name, c.code as courier_code, ${SUMS}, s.oldest_due_date
    from couriers c left join sums s on s.courier_id = c.id
    where ${matching(ctx, query)}
    order by overdue desc, balance desc, c.name, c.id
    ${limitTo(query)}`;

export const countOfAccounts = (ctx: UserScope, query: AccountsQuery): Sql<{ total: number }> =>
  sql`with ${sumsByCourier(ctx)}
    select count(*)::int as total from couriers c left join sums s on s.courier_id = c.id where ${matching(ctx, query)}`;

/** The sums over all couriers, and today in UTC. */
export const totalOfAccounts = (ctx: UserScope): Sql<SumsRow & { as_of: string }> =>
  sql`with ${unpaidBills(ctx)}
    select ${SUMS}, ${TODAY}::text as as_of from (select ${sumsOf} from unpaid) as s`;

const TODAY = sql`(now() at time zone 'UTC')::date`;

const SUMS = sql`coalesce(s.balance, 0) as balance, coalesce(s.overdue, 0) as overdue, coalesce(s.unpaid_bills, 0)::int as unpaid_bills,
  coalesce(s.late_0, 0) as late_0, coalesce(s.late_1_30, 0) as late_1_30, coalesce(s.late_31_60, 0) as late_31_60,
  coalesce(s.late_61_90, 0) as late_61_90, coalesce(s.late_over_90, 0) as late_over_90`;

const matching = (ctx: UserScope, { overdue }: AccountsQuery): Sql =>
  allOf(
    tenantRows(ctx, 'c'),
    overdue !== undefined && sql`(coalesce(s.overdue, 0) > 0) = ${overdue}::boolean`,
  );

const unpaidBills = (ctx: UserScope): Sql => sql`unpaid as (
  select b.courier_id, b.total_amount - b.paid_amount as due, ${dueDateOfPublished} as due_date, ${TODAY} - ${dueDateOfPublished} as late
  from bills b where ${ownRows(ctx, 'b')} and b.status = 'published')`;

const sumsByCourier = (ctx: UserScope): Sql => sql`${unpaidBills(ctx)},
  sums as (select courier_id, min(due_date)::text as oldest_due_date, ${sumsOf} from unpaid group by courier_id)`;

const sumsOf = sql`sum(due) as balance, coalesce(sum(due) filter (where late > 0), 0) as overdue, count(*)::int as unpaid_bills,
  sum(due) filter (where late <= 0) as late_0, sum(due) filter (where late between 1 and 30) as late_1_30,
  sum(due) filter (where late between 31 and 60) as late_31_60, sum(due) filter (where late between 61 and 90) as late_61_90,
  sum(due) filter (where late > 90) as late_over_90`;
