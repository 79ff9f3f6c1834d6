import { trackingKey } from '../../src/modules/tracking-numbers/tracking-key.js';
import type { Row } from '../../fixtures/demo/values/rows.js';
import type { Parcel, Prealert } from './parcels.js';
import type { TenantPlan } from './tenant-plan.js';
import { iso } from './values/time.js';

export const prealertRow = ({ id: tenantId }: TenantPlan, prealert: Prealert): Row => {
  const { id, courier, userCode, trackingNumber, contents, status, createdMs, updatedMs } = prealert;
  return {
    ...{ tenant_id: tenantId, id, courier_id: courier.id, user_code: userCode, status },
    tracking_number: trackingNumber,
    tracking_key: trackingKey(trackingNumber),
    vendor: contents.shipper,
    description: contents.description,
    reference: createdMs % 3 === 0 ? null : `PO-${10_000 + (createdMs % 89_999)}`,
    created_at: iso(createdMs),
    updated_at: iso(updatedMs),
  };
};

export const packageRow = ({ id: tenantId }: TenantPlan, parcel: Parcel, carrierIds: string[]): Row => {
  const { id, courier, customer, trackingNumber, contents, receivedMs, flight, steps } = parcel;
  const last = steps.at(-1);
  return {
    ...{ tenant_id: tenantId, id, courier_id: courier?.id ?? null },
    user_code: customer?.userCode ?? null,
    first_name: customer?.firstName ?? null,
    last_name: customer?.lastName ?? null,
    tracking_number: trackingNumber,
    tracking_key: trackingKey(trackingNumber),
    house_number: parcel.houseNumber,
    weight_lb: contents.weightLb,
    length_in: contents.inches?.[0] ?? null,
    width_in: contents.inches?.[1] ?? null,
    height_in: contents.inches?.[2] ?? null,
    package_type: contents.packageType,
    shipper: contents.shipper,
    description: contents.description,
    status: last?.status ?? 'received',
    carrier_id: carrierIds[parcel.carrier] ?? null,
    warehouse_id: parcel.warehouseId,
    manifest_id: flight?.id ?? null,
    prealert_id: parcel.prealertId,
    received_at: iso(receivedMs),
    updated_at: iso(Math.max(last?.atMs ?? receivedMs, flight?.createdMs ?? 0)),
  };
};

/** The parcel's history. */
export function packageEventRows({ id: tenantId, random, staff }: TenantPlan, parcel: Parcel): Row[] {
  return parcel.steps.map(({ status, previous, atMs, source, remarks }) => ({
    ...{
      tenant_id: tenantId,
      id: random.id(atMs),
      package_id: parcel.id,
      courier_id: parcel.courier?.id ?? null,
    },
    ...{ previous_status: previous, status, source, remarks },
    actor_user_id: source === 'manifest' ? staff.manager : staff.warehouse,
    location: source === 'recorded' ? (parcel.customer?.branch ?? null) : null,
    occurred_at: iso(atMs),
    recorded_at: iso(atMs),
  }));
}
