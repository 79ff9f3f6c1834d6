/** A customer as its record names it. */
export type Customer = { courierId: string; userCode: string; firstName: string; lastName: string };

/** Whom staff named at the scale; both null when they named nobody. */
export type NamedOwner = { courierId: string | null; customer: Customer | null };

/** A pre-alert of the number that no earlier package has answered. */
export type Announcement = {
  id: string;
  courierId: string;
  userCode: string;
  trackingNumber: string;
  vendor: string | null;
  description: string | null;
  status: string;
  /** The active customer of that code; null when there is none any more. */
  customer: Customer | null;
};

export type Ownership = {
  courierId: string | null;
  customer: Customer | null;
  /** The pre-alert that the package answers. */
  answers: Announcement | null;
  /** What becomes of all the pre-alerts of the number. */
  announcementStatus: 'received' | 'flagged';
};

/**
 * Whose a parcel is: every claim must agree, the one named at the scale and those of the pre-alerts. Claims of
 * two couriers leave it with neither, claims of two customers of one courier leave it with that courier alone,
 * and the pre-alerts are flagged for staff either way (design, "Intake").
 *
 * @param announcements in order of age
 */
export function decideOwnership(
  named: NamedOwner,
  announcements: Announcement[],
  scannedNumber: string,
): Ownership {
  const oldest = announcements[0];
  if (!oldest) return { ...named, answers: null, announcementStatus: 'received' };
  const couriers = new Set(announcements.map(({ courierId }) => courierId));
  const codes = new Set(announcements.map(({ userCode }) => userCode));
  if (named.courierId) couriers.add(named.courierId);
  if (named.customer) codes.add(named.customer.userCode);
  if (couriers.size > 1) return contested(null);
  if (codes.size > 1) return contested(oldest.courierId);
  // a courier may have announced both the short number and the label's; the one as scanned says more
  const answers = announcements.find(({ trackingNumber }) => trackingNumber === scannedNumber) ?? oldest;
  return {
    courierId: answers.courierId,
    customer: named.customer ?? answers.customer,
    answers,
    announcementStatus: 'received',
  };
}

const contested = (courierId: string | null): Ownership => ({
  courierId,
  customer: null,
  answers: null,
  announcementStatus: 'flagged',
});
