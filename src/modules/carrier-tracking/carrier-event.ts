import type { components } from '../../../generated/contract.js';

/** What a carrier can say. The last of them is what a parcel ends with. */
export const CARRIER_STATUSES = [
  'silent',
  'announced',
  'moving',
  'problem',
  'delivered_at_warehouse_door',
] as const;

export type CarrierStatus = (typeof CARRIER_STATUSES)[number];

/** What a carrier says about a parcel, as a service for tracking tells it. */
export type CarrierEvent = {
  /** The text that is read as a tracking number. */
  number: string;
  status: CarrierStatus;
  carrier: string | null;
  code: string | null;
  remark: string | null;
  isActionNeeded: boolean;
  /** By the carrier's own time; null if it gave none. */
  occurredAt: Date | null;
};

/** As the contract shows it. */
export type CarrierTracking = components['schemas']['CarrierTracking'];
