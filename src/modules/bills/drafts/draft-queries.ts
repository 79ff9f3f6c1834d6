import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import { sql } from '../../../platform/db/transaction.js';
import {
  airFreightUsd,
  bandIn,
  bandsAndCuts,
  GAPS,
  heapsOf,
  received,
  sumsOfHeaps,
  tierLabel,
  type Gaps,
  type Period,
} from '../../invoices/public.js';
import { MAX_USD, type Ctx } from '../shared/context.js';

/**
 * Locks the courier's row. Returns undefined if the tenant has no such courier. Serializes concurrent drafts
 * of one courier, so that the second sees the packages that the first has billed.
 */
export async function lockCourier({ db, tx, caller }: Ctx, courierId: string): Promise<string | undefined> {
  const rows = await tx.query<{ id: string }>(sql`
    select c.id from couriers c where ${tenantRows(db, caller, 'c')} and c.id = ${courierId}::uuid
    for no key update`);
  return rows[0]?.id;
}

export type NewDraft = {
  id: string;
  invoiceNumber: string;
  period: Period;
  serviceType: string;
  /** In percent, as decimal text. */
  taxRate: string;
  remarks: string | null;
  maxPackages: number;
};

/** The result of a creation. Amounts are decimal text. `is_drawn` is false if nothing was stored. */
export type InsertedDraftRow = Gaps & {
  is_drawn: boolean;
  total_packages: number;
  already_billed: number;
  subtotal: string;
  tax_amount: string;
  total_amount: string;
};

/**
 * Stores a draft with all of its lines in one statement, which sees packages, tiers and other bills at one
 * point in time. Stores nothing if there is nothing to bill, or too much.
 */
export async function insertDraft(ctx: Ctx, draft: NewDraft): Promise<InsertedDraftRow | undefined> {
  const { db, tx, caller } = ctx;
  const { id, invoiceNumber, period, serviceType, taxRate, remarks, maxPackages } = draft;
  const rows = await tx.query<InsertedDraftRow>(sql`
    with ${bandsAndCuts(db, caller, period)},
      fee as (select array_agg(fee_usd order by place) as fees, array_agg(${tierLabel} order by place) as tiers from bands),
      found as materialized (
        select p.id, p.tracking_number, p.house_number, p.user_code, p.received_at, p.weight_lb, p.manifest_id,
          l.id is not null as is_billed
        from packages p
        left join bill_lines l on ${tenantRows(db, caller, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
        where ${received(db, caller, period)}),
      ${heapsOf(sql`found p where not p.is_billed`)},
      ${sumsOfHeaps(db, caller)},
      amounts as (
        select s.*, c.id as courier_id, c.air_freight_rate, a.air_freight, t.subtotal, t.tax_amount,
          t.subtotal + t.tax_amount as total_amount
        from sums s
        join couriers c on ${tenantRows(db, caller, 'c')} and c.id = ${period.courierId}::uuid
        cross join lateral (select ${airFreightUsd} as air_freight) as a
        cross join lateral (
          select s.total_fees + a.air_freight as subtotal,
            round((s.total_fees + a.air_freight) * ${taxRate}::numeric / 100, 2) as tax_amount) as t),
      bill as (
        insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
          tax_rate, subtotal, tax_amount, total_amount, remarks)
        select ${caller.tenantId}::uuid, ${id}::uuid, ${invoiceNumber}, courier_id, ${serviceType},
          ${period.startDate}::date, ${period.endDate}::date, total_packages, ${taxRate}::numeric, subtotal, tax_amount,
          total_amount, ${remarks}
        from amounts
        where total_packages between 1 and ${maxPackages}::int and total_amount <= ${MAX_USD}::numeric
        returning tenant_id, id, courier_id),
      billed as (
        select *, row_number() over (order by received_at, id)::int as position, ${bandIn(sql`weight_lb`)} as band
        from found where not is_billed),
      package_lines as (
        insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, package_id, tracking_number,
          house_number, user_code, received_at, weight_lb, tier, amount_usd)
        select bill.tenant_id, new_id(), bill.id, bill.courier_id, p.position, 'package', p.id, p.tracking_number,
          p.house_number, p.user_code, p.received_at, p.weight_lb,
          case when p.band % 2 = 1 then (select tiers from fee)[(p.band + 1) / 2] end,
          case when p.band % 2 = 1 then (select fees from fee)[(p.band + 1) / 2] else 0 end
        from bill cross join billed p
        -- by id, as every writer of packages locks them: each line's key holds its package
        order by p.id),
      air_freight_line as (
        insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, weight_lb, rate_usd, amount_usd)
        select bill.tenant_id, new_id(), bill.id, bill.courier_id, total_packages + 1, 'air_freight',
          air_freight_weight, air_freight_rate, air_freight
        from bill cross join amounts where air_freight_weight > 0 and air_freight_rate > 0)
    select exists (select from bill) as is_drawn, total_packages,
      (select count(*) from found where is_billed)::int as already_billed,
      subtotal::text, tax_amount::text, total_amount::text, ${GAPS}
    from amounts`);
  return rows[0];
}

/** Deletes a draft with its lines. Returns the number of deleted bills. */
export async function removeDraft({ db, tx, caller }: Ctx, billId: string): Promise<number> {
  return tx.execute(sql`
    delete from bills b where ${ownRows(db, caller, 'b')} and b.id = ${billId}::uuid and b.status = 'draft'`);
}
