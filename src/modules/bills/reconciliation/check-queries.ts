import type { DataOf } from '../../../platform/contract/types.js';
import { ownRows } from '../../../platform/db/filters.js';
import { empty, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import type { Period } from './checked-packages.js';

type DifferingBill = DataOf<'getBillingReconciliation'>['differing_bills'][number];

/** Figures are decimal text, both counts and amounts. */
export type CheckRow = {
  bills: number;
  check_name: Exclude<DifferingBill['check'], 'packages'>;
  expected: string;
  found: string;
  differing: number;
  /** The first bills that differ. */
  examples: { bill_id: string; invoice_number: string; expected: string; found: string }[];
};

const MAX_EXAMPLES = 100;

/** Compares the stored totals of the bills that overlap the period with their lines and payments. */
export function checkBills(ctx: UserScope, { courierId, from, to }: Period): Sql<CheckRow> {
  return sql`with summed as materialized (
      select b.*, l.packages, l.amount_usd, p.received_usd
      from bills b
      cross join lateral (
        select count(l.package_id)::int as packages, coalesce(sum(l.amount_usd), 0) as amount_usd from bill_lines l
        where ${ownRows(ctx, 'l')} and l.tenant_id = b.tenant_id and l.bill_id = b.id) as l
      cross join lateral (
        select coalesce(sum(p.amount_usd), 0) as received_usd from bill_payments p
        where ${ownRows(ctx, 'p')} and p.tenant_id = b.tenant_id and p.bill_id = b.id and p.voided_at is null) as p
      where ${ownRows(ctx, 'b')} and b.start_date <= ${to}::date and b.end_date >= ${from}::date
        ${courierId ? sql`and b.courier_id = ${courierId}::uuid` : empty}),
    figures as (
      select s.id, s.invoice_number, v.*, row_number() over (partition by v.check_name, v.expected <> v.found
        order by s.created_at desc, s.id desc) as rank
      from summed s
      cross join lateral (values
        ('bill_packages', s.total_packages::numeric, s.packages::numeric),
        ('bill_subtotals', s.subtotal, s.amount_usd),
        ('bill_taxes', s.tax_amount, round(s.subtotal * s.tax_rate / 100, 2)),
        ('bill_totals', s.total_amount, s.subtotal + s.tax_amount),
        ('bill_payments', s.paid_amount, s.received_usd),
        ('bill_statuses', (s.status = 'paid')::int, (s.status <> 'draft' and s.paid_amount = s.total_amount)::int)
      ) as v (check_name, expected, found))
    select check_name, count(*)::int as bills, sum(expected) as expected, sum(found) as found,
      count(*) filter (where expected <> found)::int as differing,
      coalesce(json_agg(json_build_object('bill_id', id, 'invoice_number', invoice_number, 'expected', expected::text,
        'found', found::text) order by rank) filter (where expected <> found and rank <= ${MAX_EXAMPLES}::int), '[]')
        as examples
    from figures group by check_name`;
}
