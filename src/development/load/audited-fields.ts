import type { Parcel, Prealert } from './parcels.js';

/** The values that the service records of an intake and of a pre-alert. */
export const auditedFields = {
  parcel: ({ courier, customer, trackingNumber, houseNumber, contents, prealertId }: Parcel) => ({
    courier_id: courier?.id ?? null,
    user_code: customer?.userCode ?? null,
    tracking_number: trackingNumber,
    house_number: houseNumber,
    weight_lb: contents.weightLb,
    shipper: contents.shipper,
    prealert_id: prealertId,
  }),
  prealert: ({ id, courier, userCode, trackingNumber, contents, status }: Prealert) => ({
    ...{ id, courier_id: courier.id, user_code: userCode, tracking_number: trackingNumber },
    ...{ vendor: contents.shipper, description: contents.description },
    status: status === 'flagged' ? 'flagged' : 'pending',
  }),
};
