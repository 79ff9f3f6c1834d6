import { jsonText } from '../../platform/contract/json-text.js';
import type { DataOf } from '../../platform/contract/types.js';
import { wordGap } from '../rates/public.js';
import type { Preview } from './invoices.js';
import type { FiguresRow, PartiesRow } from './queries.js';

type InvoicePreview = DataOf<'generateCourierInvoice'>;

export function viewPreview({ parties, figures, billed }: Preview): InvoicePreview {
  return {
    warehouse: viewWarehouse(parties),
    courier: viewCourier(parties),
    summary: viewSummary(figures),
    breakdown: figures.lines.map(({ startLb, endLb, count, rate, subtotal }) => ({
      range: `${startLb}-${endLb} lb`,
      count,
      rate: Number(rate),
      subtotal: Number(subtotal),
    })),
    // listBilled creates exactly the contract's list.
    packages: jsonText(`[${billed.map(({ packages }) => packages).join(',')}]`) as InvoicePreview['packages'],
    warnings: figures.gaps.map(wordGap),
  };
}

const viewWarehouse = (row: PartiesRow): InvoicePreview['warehouse'] => ({
  name: row.warehouse_name,
  address: row.warehouse_address ?? '',
  city: row.warehouse_city,
  country: row.warehouse_country,
  phone: row.warehouse_phone,
  email: row.warehouse_email,
});

const viewCourier = (row: PartiesRow): InvoicePreview['courier'] => ({
  courier_id: row.courier_id,
  courier_name: row.courier_name,
  courier_code: row.courier_code,
  company_name: row.company_name,
  email: row.email,
  phone_number1: row.phone_number1,
  address1: row.address1,
  address2: row.address2,
  city_town: row.city_town,
  parish_province: row.parish_province,
});

const viewSummary = (row: FiguresRow): InvoicePreview['summary'] => ({
  total_packages: row.total_packages,
  total_weight: Number(row.total_weight),
  total_fees: Number(row.total_fees),
  air_freight_rate: Number(row.air_freight_rate),
  air_freight_weight: Number(row.air_freight_weight),
  total_air_freight: Number(row.total_air_freight),
  grand_total: Number(row.grand_total),
});
