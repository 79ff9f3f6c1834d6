import type { DataOf } from '../../platform/contract/types.js';
import type { ScanReading } from '../tracking-numbers/public.js';
import { areAgreed } from './next-step.js';
import type { ScanMatches } from './find-matches.js';
import type { PrealertRow } from './queries.js';

type Resolution = DataOf<'resolveScan'>;

/** The owner that a package has, or that intake would store. */
export type ParcelOwner = Pick<PrealertRow, 'courierId' | 'courierName' | 'firstName' | 'lastName'> & {
  userCode: string | null;
};

export type ScanMeaning = { kind: Resolution['kind']; owner: ParcelOwner | null };

/** @param isOpen the scan has several numbers, and no record decides between them */
export const describeScan = (reading: ScanReading, matches: ScanMatches, isOpen: boolean): ScanMeaning => ({
  kind: kindOf(reading, matches, isOpen),
  owner: isOpen ? null : ownerOf(matches),
});

/** Returns what was scanned, in the order in which the next step is decided. */
function kindOf(
  { candidates }: ScanReading,
  { packages, prealerts, manifests, customers }: ScanMatches,
  isOpen: boolean,
): ScanMeaning['kind'] {
  if (isOpen) return 'several_numbers';
  if (packages.length > 0)
    return packages.every(({ matchedBy }) => matchedBy === 'house_number') ? 'house_number' : 'parcel';
  if (manifests.length > 0) return 'manifest';
  if (prealerts.length > 0 || candidates.some(({ check }) => check === 'valid')) return 'parcel';
  if (customers.length > 0) return 'customer';
  return candidates.length > 0 ? 'parcel' : 'unknown';
}

/** The owner of a received parcel is that of its package, whoever announced it. */
function ownerOf({ packages, claims }: ScanMatches): ParcelOwner | null {
  const [found, another] = packages;
  if (another) return null;
  if (found) {
    const { courierId, courierName, userCode, firstName, lastName } = found;
    return courierId !== null && courierName !== null
      ? { courierId, courierName, userCode, firstName, lastName }
      : null;
  }
  const [claim] = claims;
  if (!claim || !areAgreed(claims)) return null;
  const { courierId, courierName, firstName, lastName } = claim;
  // Intake stores only the courier if the customer is not active.
  return {
    courierId,
    courierName,
    userCode: firstName === null ? null : claim.userCode,
    firstName,
    lastName,
  };
}
