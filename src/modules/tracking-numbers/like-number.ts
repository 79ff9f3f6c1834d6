import { minFormatLength } from './reader/formats.js';
import { readScan } from './read-scan.js';

type LikeNumber = { code: 'like_tracking_number'; message: string };

const ASCII = /^[ -~]*$/;
const DIGIT = /\d/;
const SEPARATORS = /[^0-9A-Za-z]+/g;

/** Every format has a digit. A letter outside ASCII can become several, so such a code is always read. */
const isPossible = (userCode: string): boolean =>
  !ASCII.test(userCode) ||
  (userCode.length >= minFormatLength() &&
    DIGIT.test(userCode) &&
    userCode.replace(SEPARATORS, '').length >= minFormatLength());

/**
 * Returns the warning about a customer's code that fits a carrier's format of tracking numbers, or undefined. Such a code is possible: a
 * station may take it for a parcel, and a parcel with this number for the customer.
 */
export function warnOfLikeNumber(userCode: string): LikeNumber | undefined {
  // Most codes of a long list are too short. Reading one as a scan takes ten times as long as this check.
  if (!isPossible(userCode)) return undefined;
  const [candidate] = readScan(userCode).candidates;
  if (!candidate) return undefined;
  const message = `The user code ${userCode} has the form of a tracking number of ${candidate.carrierName}. A scan of it may be taken for a parcel, and a parcel with this number is received only if staff enter its owner. Use another code if possible.`;
  return { code: 'like_tracking_number', message };
}
