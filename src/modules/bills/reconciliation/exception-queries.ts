import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { raw, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { accounts, checkedPackages, isException, REASONS, type Period } from './checked-packages.js';

type Exception = DataOf<'getBillingReconciliation'>['exceptions'][number];

export type ExceptionRow = Pick<
  Exception,
  | 'package_id'
  | 'tracking_number'
  | 'house_number'
  | 'courier_id'
  | 'courier_name'
  | 'reasons'
  | 'bill_id'
  | 'invoice_number'
  | 'bill_status'
  | 'billed_courier_id'
> & {
  received_at: Date;
  weight_lb: string;
  /** The weight at intake; null if it was never changed. */
  received_weight_lb: string | null;
  weight_changed_at: Date | null;
  weight_changed_by: string | null;
  fee_usd: string | null;
  billed_lb: string | null;
  billed_usd: string | null;
};

export type ExceptionPage = { before: string | undefined; limit: number };

/** The page before a package, newest intake first, and one row more to detect a next page. */
export function pageOfExceptions(ctx: UserScope, period: Period, page: ExceptionPage): Sql<ExceptionRow> {
  // Names are read only for the rows of the page.
  return sql`with ${accounts(ctx, period)}
    select e.id as package_id, p.tracking_number, p.house_number, e.received_at, e.courier_id, c.name as courier_name,
      e.weight_lb, e.received_weight_lb, change.at as weight_changed_at,
      change.full_name as weight_changed_by, e.fee_usd, e.bill_id, b.invoice_number, e.status as bill_status, e.billed_courier_id, e.billed_lb,
      e.amount_usd as billed_usd,
      array_remove(array[${raw(REASONS.map((reason) => `case when ${reason} then '${reason}' end`).join(', '))}], null)
        as reasons
    from (
      select * from (${checkedPackages(ctx, period, page.before)}) as checked
      where ${isException} order by received_at desc, id desc limit ${page.limit}::int + 1
    ) as e
    join packages p on ${tenantRows(ctx, 'p')} and p.id = e.id
    left join couriers c on ${tenantRows(ctx, 'c')} and c.id = e.courier_id
    left join bills b on ${ownRows(ctx, 'b')} and b.id = e.bill_id
    left join lateral (${lastChangeOfWeight(ctx)}) as change on e.received_weight_lb is not null
    order by e.received_at desc, e.id desc`;
}

/** When and by whom the weight of the package `e` was last changed, from the audit log. */
const lastChangeOfWeight = (ctx: UserScope): Sql => sql`
  select a.at, u.full_name
  from audit_entries a
  left join users u on ${tenantRows(ctx, 'u')} and u.id = a.actor_id
  where ${tenantRows(ctx, 'a')} and a.entity_id = e.id and a.action = 'package.updated'
    and a.after -> 'weight_lb' is not null
  order by a.at desc, a.id desc limit 1`;
