import { minFormatLength } from './reader/formats.js';
import { readScan } from './read-scan.js';

type LikeNumber = { code: 'like_tracking_number'; message: string };

const ASCII = /^[ -~]*$/;
const SEPARATORS = /[^0-9A-Z]+/g;
const LETTERS = /[A-Z]+/g;

/** All formats have at least so many digits, except those of UPS, LaserShip and DHL that begin with one of these letters. */
const MIN_DIGITS = 8;
const WITH_LETTERS = /1Z|1LSCX|(?:GM|LX|RX|UV|CN|SG|TH|IN|HK|MY)[0-9A-Z]{10}/;

/** A letter outside ASCII can become several, so a code with one is always read. */
function isPossible(userCode: string): boolean {
  if (!ASCII.test(userCode)) return true;
  if (userCode.length < minFormatLength()) return false;
  const folded = userCode.toUpperCase().replace(SEPARATORS, '');
  if (folded.length < minFormatLength()) return false;
  return folded.replace(LETTERS, '').length >= MIN_DIGITS || WITH_LETTERS.test(folded);
}

/**
 * Returns the warning about a customer's code that fits a carrier's format of tracking numbers, or undefined. Such a code is possible: a
 * station may take it for a parcel, and a parcel with this number for the customer.
 */
export function warnOfLikeNumber(userCode: string): LikeNumber | undefined {
  // An upload has 100,000 codes. Reading one as a scan takes many times as long as this check.
  if (!isPossible(userCode)) return undefined;
  const [candidate] = readScan(userCode).candidates;
  if (!candidate) return undefined;
  const message = `The user code ${userCode} has the form of a tracking number of ${candidate.carrierName}. A scan of it may be taken for a parcel, and a parcel with this number is received only if staff enter its owner. Use another code if possible.`;
  return { code: 'like_tracking_number', message };
}
