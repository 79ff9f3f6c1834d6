import { ownRows, tenantRows, untilDay } from '../../../platform/db/filters.js';
import { isCommonPage, limitTo, type PageQuery } from '../../../platform/db/pages.js';
import { once, onceIf, sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import { currencyOf } from '../../tenant-settings/public.js';
import { dueDateOfPublished, visibleBills } from '../shared/bill-row.js';

/** Dates are text, both inclusive and in UTC. */
export type StatementPeriod = { courierId: string; from: string; to: string };

/** Amounts are decimal text. */
export type AccountRow = {
  courier_id: string;
  courier_name: string;
  courier_code: string;
  currency: string;
  opening_balance: string;
  billed: string;
  paid: string;
  voided: string;
  closing_balance: string;
  movements: number;
  days_0_30: string;
  days_31_60: string;
  days_61_90: string;
  days_over_90: string;
  credit: string;
  late_0: string;
  late_1_30: string;
  late_31_60: string;
  late_61_90: string;
  late_over_90: string;
};

/** The figures of a courier's account: over the period, and by the age and the delay of its bills at the end. */
export function figuresOfAccount(ctx: UserScope, period: StatementPeriod): Sql<AccountRow> {
  const { courierId, from, to } = period;
  // A bill published after the period is not part of the ageing. Payments for it count as credit.
  return once`with moves as materialized (${movementsOfAccount(ctx, period)}),
    dues as (
      select sum(m.amount_usd) as due, ${to}::date - max(m.day) filter (where m.kind = 'bill') as age,
        ${to}::date - max(${dueDateOfPublished}) filter (where m.kind = 'bill') as late
      from moves m join bills b on ${visibleBills(ctx)} and b.id = m.bill_id
      group by m.bill_id)
    select c.id as courier_id, c.name as courier_name, c.code as courier_code, ${currencyOf(ctx)} as currency, f.*, d.*
    from couriers c
    cross join (
      select coalesce(sum(amount_usd) filter (where day < ${from}::date), 0) as opening_balance,
        coalesce(sum(amount_usd) filter (where day >= ${from}::date and kind = 'bill'), 0) as billed,
        coalesce(-sum(amount_usd) filter (where day >= ${from}::date and kind = 'payment'), 0) as paid,
        coalesce(sum(amount_usd) filter (where day >= ${from}::date and kind = 'payment_voided'), 0) as voided,
        coalesce(sum(amount_usd), 0) as closing_balance,
        count(*) filter (where day >= ${from}::date)::int as movements
      from moves) as f
    cross join (
      select coalesce(sum(due) filter (where due > 0 and age <= 30), 0) as days_0_30,
        coalesce(sum(due) filter (where due > 0 and age between 31 and 60), 0) as days_31_60,
        coalesce(sum(due) filter (where due > 0 and age between 61 and 90), 0) as days_61_90,
        coalesce(sum(due) filter (where due > 0 and age > 90), 0) as days_over_90,
        coalesce(sum(due) filter (where due < 0), 0) as credit,
        coalesce(sum(due) filter (where due > 0 and late <= 0), 0) as late_0,
        coalesce(sum(due) filter (where due > 0 and late between 1 and 30), 0) as late_1_30,
        coalesce(sum(due) filter (where due > 0 and late between 31 and 60), 0) as late_31_60,
        coalesce(sum(due) filter (where due > 0 and late between 61 and 90), 0) as late_61_90,
        coalesce(sum(due) filter (where due > 0 and late > 90), 0) as late_over_90
      from dues) as d
    where ${tenantRows(ctx, 'c')} and c.id = ${courierId}::uuid`;
}

export type MovementRow = {
  kind: 'bill' | 'payment' | 'payment_voided';
  day: string;
  recorded_at: Date;
  bill_id: string;
  invoice_number: string;
  payment_id: string | null;
  method: string | null;
  reference: string | null;
  amount_usd: string;
  /** The balance after the movement. */
  balance_usd: string;
};

/** The movements of the period, oldest first, each with the balance after it. */
export function pageOfMovements(ctx: UserScope, period: StatementPeriod, page: PageQuery): Sql<MovementRow> {
  // Kind and id break ties, so that no page repeats a movement.
  const order = sql`day, recorded_at, kind, coalesce(payment_id, bill_id)`;
  return onceIf(isCommonPage(page))`select m.*
    from (
      select moves.*, sum(amount_usd) over (order by ${order} rows unbounded preceding) as balance_usd
      from (${movementsOfAccount(ctx, period)}) as moves) as m
    where m.day >= ${period.from}::date
    order by ${order}
    ${limitTo(page)}`;
}

/**
 * All movements of a courier's balance until the end of the period. A payment counts from its date,
 * which may be before the bill was published. A bill without a publication
 * time, from an earlier version, counts from its creation.
 */
function movementsOfAccount(ctx: UserScope, { courierId, to }: StatementPeriod): Sql {
  const bills = sql`(
    select b.tenant_id, b.id, b.invoice_number, b.total_amount, coalesce(b.published_at, b.created_at) as published_at
    from bills b
    where ${visibleBills(ctx)} and b.courier_id = ${courierId}::uuid and b.status <> 'draft')`;
  const payments = sql`bill_payments p
    join ${bills} b on b.tenant_id = p.tenant_id and b.id = p.bill_id`;
  const voidedOn = sql`greatest((p.voided_at at time zone 'UTC')::date, p.received_on)`;
  return sql`select 'bill' as kind, (b.published_at at time zone 'UTC')::date as day, b.published_at as recorded_at,
      b.id as bill_id, b.invoice_number, null::uuid as payment_id, null as method, null as reference,
      b.total_amount as amount_usd
    from ${bills} b
    where ${untilDay(sql`b.published_at`, to)}
    union all
    select 'payment', p.received_on, p.recorded_at, b.id, b.invoice_number, p.id, p.method, p.reference, -p.amount_usd
    from ${payments}
    where ${ownRows(ctx, 'p')} and p.received_on <= ${to}::date
    union all
    select 'payment_voided', ${voidedOn}, p.voided_at, b.id, b.invoice_number, p.id, p.method, p.reference, p.amount_usd
    from ${payments}
    where ${ownRows(ctx, 'p')} and p.voided_at is not null and ${voidedOn} <= ${to}::date`;
}
