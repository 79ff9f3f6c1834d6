import { readScan } from './read-scan.js';

type LikeNumber = { code: 'like_tracking_number'; message: string };

/**
 * Returns the warning about a customer's code that fits a carrier's format of tracking numbers, or undefined. Such a code is possible: a
 * station may take it for a parcel, and a parcel with this number for the customer.
 */
export function warnOfLikeNumber(userCode: string): LikeNumber | undefined {
  const [candidate] = readScan(userCode).candidates;
  if (!candidate) return undefined;
  const message = `The user code ${userCode} has the form of a tracking number of ${candidate.carrierName}. A scan of it may be taken for a parcel, and a parcel with this number is received only if staff enter its owner. Use another code if possible.`;
  return { code: 'like_tracking_number', message };
}
