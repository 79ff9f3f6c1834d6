import { tenantRows } from '../../../platform/db/filters.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import {
  accounts,
  checkedPackages,
  isException,
  packagesOfPeriod,
  REASONS,
  type Period,
  type Reason,
} from './checked-packages.js';

type Billing = 'published' | 'draft' | 'unbilled';

/** Amounts and weights are decimal text. */
export type FiguresRow = Record<`${Billing}_${'lb' | 'usd'}`, string> &
  Record<`${Billing}_packages` | Reason | 'packages' | 'exceptions', number> & {
    weight_lb: string;
    /** Whether this is the row of the totals. */
    is_total: boolean;
    courier_id: string | null;
    courier_name: string | null;
    courier_code: string | null;
  };

/** One row per courier that packages currently belong to, and one row of totals, from one scan of the packages. */
export function figuresOfPackages(ctx: UserScope, period: Period): Sql<FiguresRow> {
  const sums = (condition: Sql, fee: Sql) =>
    sql`count(*) filter (where ${condition})::int, coalesce(sum(weight_lb) filter (where ${condition}), 0),
      coalesce(sum(${fee}) filter (where ${condition}), 0)`;
  return sql`with ${accounts(ctx, period)}
    select f.*, c.name as courier_name, c.code as courier_code
    from (
      select grouping(courier_id) = 1, courier_id, count(*)::int, coalesce(sum(weight_lb), 0),
        ${sums(sql`status <> 'draft'`, sql`amount_usd`)}, ${sums(sql`status = 'draft'`, sql`amount_usd`)},
        ${sums(sql`bill_id is null`, sql`fee_usd`)}, count(*) filter (where ${isException})::int,
        ${raw(REASONS.map((reason) => `count(*) filter (where ${reason})::int`).join(', '))}
      from (${checkedPackages(ctx, period)}) as checked
      group by grouping sets ((), (courier_id))
    ) as f (is_total, courier_id, packages, weight_lb, published_packages, published_lb, published_usd, draft_packages,
      draft_lb, draft_usd, unbilled_packages, unbilled_lb, unbilled_usd, exceptions, ${raw(REASONS.join(', '))})
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = f.courier_id
    order by c.name, c.id`;
}

/** Counts the packages independently of the figures, to compare both. */
export function countReceived(ctx: UserScope, period: Period): Sql<{ received: number }> {
  return sql`select count(*)::int as received from (${packagesOfPeriod(ctx, period)}) as p`;
}
