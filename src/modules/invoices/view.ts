import { jsonText } from '../../platform/contract/json-text.js';
import type { DataOf } from '../../platform/contract/types.js';
import { gapWarning } from '../rates/public.js';
import type { Preview } from './invoices.js';
import type { FiguresRow, PartiesRow } from './queries.js';

type InvoicePreview = DataOf<'previewCourierInvoice'>;

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
    warnings: figures.gaps.map(gapWarning),
  };
}

const viewWarehouse = (row: PartiesRow): InvoicePreview['warehouse'] => ({
  name: row.issuerName,
  address: row.issuerAddress ?? '',
  city: row.issuerCity,
  country: row.issuerCountry,
  phone: row.issuerPhone,
  email: row.issuerEmail,
});

const viewCourier = (row: PartiesRow): InvoicePreview['courier'] => ({
  courier_id: row.id,
  courier_name: row.name,
  courier_code: row.code,
  company_name: row.companyName,
  email: row.email,
  phone_number1: row.phoneNumber1,
  address1: row.address1,
  address2: row.address2,
  city_town: row.cityTown,
  parish_province: row.parishProvince,
});

const viewSummary = (row: FiguresRow): InvoicePreview['summary'] => ({
  total_packages: row.totalPackages,
  total_weight: Number(row.totalWeight),
  total_fees: Number(row.totalFees),
  air_freight_rate: Number(row.airFreightRate),
  air_freight_weight: Number(row.airFreightWeight),
  total_air_freight: Number(row.totalAirFreight),
  grand_total: Number(row.grandTotal),
});
