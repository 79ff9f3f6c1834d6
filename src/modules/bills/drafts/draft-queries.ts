import { ownRows, tenantRows } from '../../../platform/db/filters.js';
import type { Bill, DecimalText } from '../../../platform/db/models/types.js';
import { sql, type Sql } from '../../../platform/db/statements.js';
import type { UserScope } from '../../../platform/db/scope.js';
import {
  airFreightUsd,
  courierTiers,
  gapsAsJson,
  groupPackages,
  receivedInPeriod,
  sumGroups,
  tierLabel,
  weightBand,
  type GapsRow,
  type Period,
} from '../../invoices/public.js';
import { elementOfTier } from '../../rates/public.js';
import { MAX_USD, type TotalsRow } from '../shared/locked-bill.js';

/** The tax rate is in percent. */
export type NewDraft = DecimalText<
  Pick<Bill, 'id' | 'invoiceNumber' | 'serviceType' | 'taxRate' | 'remarks'>
> & { period: Period; maxPackages: number };

/** The result of a creation. `isStored` is false if there was nothing to bill, or too much. */
export type DraftRow = GapsRow &
  TotalsRow &
  Pick<Bill, 'totalPackages'> & { isStored: boolean; alreadyBilled: number };

/**
 * Stores a draft with all of its lines in one statement, which sees packages, tiers and other bills at one
 * point in time. Stores nothing if there is nothing to bill, or too much.
 */
export function insertDraft(ctx: UserScope, draft: NewDraft): Sql<DraftRow> {
  const { id, invoiceNumber, period, serviceType, taxRate, remarks, maxPackages } = draft;
  const ofTier = (elements: Sql) => elementOfTier(elements, sql`p.band`);
  return sql`with ${courierTiers(ctx, period)},
      tier_lists as (
        select array_agg(fee_usd order by tier_number) as fees, array_agg(${tierLabel} order by tier_number) as labels
        from tiers),
      found as materialized (
        select p.id, p.tracking_number, p.house_number, p.user_code, p.received_at, p.weight_lb, p.manifest_id,
          l.id is not null as is_billed
        from packages p
        left join bill_lines l on ${tenantRows(ctx, 'l')} and l.tenant_id = p.tenant_id and l.package_id = p.id
        where ${receivedInPeriod(ctx, period)}),
      ${groupPackages(sql`found p where not p.is_billed`)},
      ${sumGroups(ctx)},
      amounts as (
        select t.*, c.id as courier_id, c.air_freight_rate, a.air_freight, n.subtotal, n.tax_amount,
          n.subtotal + n.tax_amount as total_amount
        from totals t
        join couriers c on ${tenantRows(ctx, 'c')} and c.id = ${period.courierId}::uuid
        cross join lateral (select ${airFreightUsd} as air_freight) as a
        cross join lateral (
          select t.total_fees + a.air_freight as subtotal,
            round((t.total_fees + a.air_freight) * ${taxRate}::numeric / 100, 2) as tax_amount) as n),
      bill as (
        insert into bills (tenant_id, id, invoice_number, courier_id, service_type, start_date, end_date, total_packages,
          tax_rate, subtotal, tax_amount, total_amount, remarks)
        select ${ctx.tenantId}::uuid, ${id}::uuid, ${invoiceNumber}, courier_id, ${serviceType},
          ${period.startDate}::date, ${period.endDate}::date, total_packages, ${taxRate}::numeric, subtotal, tax_amount,
          total_amount, ${remarks}
        from amounts
        where total_packages between 1 and ${maxPackages}::int and total_amount <= ${MAX_USD}::numeric
        returning tenant_id, id, courier_id),
      billed as (
        select *, row_number() over (order by received_at, id)::int as position, ${weightBand(sql`weight_lb`)} as band
        from found where not is_billed),
      package_lines as (
        insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, package_id, tracking_number,
          house_number, user_code, received_at, weight_lb, tier, amount_usd)
        select bill.tenant_id, new_id(), bill.id, bill.courier_id, p.position, 'package', p.id, p.tracking_number,
          p.house_number, p.user_code, p.received_at, p.weight_lb, ${ofTier(sql`(select labels from tier_lists)`)},
          coalesce(${ofTier(sql`(select fees from tier_lists)`)}, 0)
        from bill cross join billed p
        -- by id, as every writer of packages locks them: the foreign key of each line locks its package
        order by p.id),
      air_freight_line as (
        insert into bill_lines (tenant_id, id, bill_id, courier_id, position, kind, weight_lb, rate_usd, amount_usd)
        select bill.tenant_id, new_id(), bill.id, bill.courier_id, total_packages + 1, 'air_freight',
          air_freight_weight, air_freight_rate, air_freight
        from bill cross join amounts where air_freight_weight > 0 and air_freight_rate > 0)
    select exists (select from bill) as "isStored", total_packages as "totalPackages",
      (select count(*) from found where is_billed)::int as "alreadyBilled",
      subtotal::text, tax_amount::text as "taxAmount", total_amount::text as "totalAmount", ${gapsAsJson}
    from amounts`;
}

/** Deletes a draft with its lines. */
export const deleteDraftRow = (ctx: UserScope, billId: string): Sql =>
  sql`delete from bills b where ${ownRows(ctx, 'b')} and b.id = ${billId}::uuid and b.status = 'draft'`;
