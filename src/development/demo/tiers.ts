import { type CourierCode, DEMO } from './demo.js';
import type { TenantSlug } from './values/ids.js';
import type { Row } from './values/rows.js';

type Tier = { startLb: number; endLb: number; feeUsd: string };

const GLOBAL_TIERS: Tier[] = [
  { startLb: 0, endLb: 5, feeUsd: '8.00' },
  { startLb: 5, endLb: 15, feeUsd: '15.00' },
  { startLb: 15, endLb: 50, feeUsd: '40.00' },
];

/** Courier IEX's own tiers. All other couriers are billed by the global tiers. */
export const IEX_TIERS: Tier[] = [
  { startLb: 0, endLb: 1, feeUsd: '4.50' },
  { startLb: 1, endLb: 10, feeUsd: '12.00' },
  { startLb: 10, endLb: 100, feeUsd: '35.00' },
];

/** The published default tiers. */
export const globalTiers = (): Tier[] => GLOBAL_TIERS;
export const globalTierRows = (tenant: TenantSlug): Row[] => tierRows(tenant, null, GLOBAL_TIERS);
export const iexTierRows = (): Row[] => tierRows('demo', 'IEX', IEX_TIERS);

/** Returns the fee of a weight in cents: by the lower tier at a shared bound, and 0 without a tier. */
export function feeCents(tiers: Tier[], weightLb: number): number {
  const tier = tiers.find(({ startLb, endLb }) => weightLb >= startLb && weightLb <= endLb);
  return Math.round(Number(tier?.feeUsd ?? 0) * 100);
}

/** Returns the tier as a bill's line shows it; null if no tier covers the weight. */
export function tierLabel(tiers: Tier[], weightLb: number): string | null {
  const tier = tiers.find(({ startLb, endLb }) => weightLb >= startLb && weightLb <= endLb);
  return tier ? `${tier.startLb}-${tier.endLb} lb` : null;
}

function tierRows(tenant: TenantSlug, courier: CourierCode | null, tiers: Tier[]): Row[] {
  return tiers.map(({ startLb, endLb, feeUsd }) => ({
    tenant_id: DEMO.tenants[tenant],
    courier_id: courier && DEMO.couriers[courier],
    start_weight_lb: startLb,
    end_weight_lb: endLb,
    fee_usd: feeUsd,
  }));
}
