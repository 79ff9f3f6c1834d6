import type * as models from '../../../platform/db/models/types.js';

/** A customer with the names of its record. */
export type Customer = Pick<models.Customer, 'courierId' | 'userCode' | 'firstName' | 'lastName'>;

/** The owner that staff entered at intake. Both are null if they entered none. */
export type EnteredOwner = { courierId: string | null; customer: Customer | null };

/** A pre-alert of the tracking number that is not yet matched with a package. */
export type OpenPrealert = Pick<
  models.Prealert,
  'id' | 'courierId' | 'userCode' | 'trackingNumber' | 'vendor' | 'description'
> & {
  status: 'pending' | 'flagged';
  /** The active customer with that user code, or null. */
  customer: Customer | null;
};

export type Ownership = {
  courierId: string | null;
  customer: Customer | null;
  /** The pre-alert that the package is matched with. */
  matchedPrealert: OpenPrealert | null;
  /** The new status of all pre-alerts of the tracking number. */
  prealertStatus: 'received' | 'flagged';
};

/**
 * Returns the owner of a parcel. All claims must agree: the owner entered at intake and those of the
 * pre-alerts. If two couriers claim it, it has no owner. If two customers of one courier claim it, it has
 * only that courier. In both cases the pre-alerts are flagged for review by staff. If one of them already waits for the review,
 * the parcel has no owner (decision 0089).
 * @param prealerts oldest first
 */
export function decideOwnership(
  entered: EnteredOwner,
  prealerts: OpenPrealert[],
  scannedNumber: string,
): Ownership {
  const oldest = prealerts[0];
  if (!oldest) return { ...entered, matchedPrealert: null, prealertStatus: 'received' };
  if (isUnderReview(prealerts)) return contested(null);
  const couriers = new Set(prealerts.map(({ courierId }) => courierId));
  const codes = new Set(prealerts.map(({ userCode }) => userCode));
  if (entered.courierId) couriers.add(entered.courierId);
  if (entered.customer) codes.add(entered.customer.userCode);
  if (couriers.size > 1) return contested(null);
  if (codes.size > 1) return contested(oldest.courierId);
  // A courier may have announced both the short number and the barcode. The one that equals the scanned text
  // is the better match.
  const match = prealerts.find(({ trackingNumber }) => trackingNumber === scannedNumber) ?? oldest;
  return {
    courierId: match.courierId,
    customer: entered.customer ?? match.customer,
    matchedPrealert: match,
    prealertStatus: 'received',
  };
}

/** Whether staff must decide first: only a review clears a flag. */
export const isUnderReview = (claims: { status: string }[]): boolean =>
  claims.some(({ status }) => status === 'flagged');

const contested = (courierId: string | null): Ownership => ({
  courierId,
  customer: null,
  matchedPrealert: null,
  prealertStatus: 'flagged',
});
