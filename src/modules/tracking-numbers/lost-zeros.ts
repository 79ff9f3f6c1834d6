import { findCandidates, type Candidate } from './reader/candidates.js';
import { hasFedexCheckDigit } from './reader/fedex.js';
import { toElement } from './reader/noise.js';

/**
 * Fewer digits are a reference of the shop: one in ten has the check digit of DHL's ten digits by chance. For the same reason, not more
 * than two zeros are tried: one number in a thousand begins with three.
 */
const MIN_DIGITS = 9;

const OF_DIGITS = new RegExp(`^[1-9]\\d{${MIN_DIGITS - 1},}$`);

/** What a spreadsheet leaves of a longer number: the zeros behind its 15 digits are a loss of their own. */
const ROUNDED = /^\d{15}0+$/;

const FEDEX_14 = /^\d{14}$/;

/** A number of a carrier without its leading zeros. */
type LostZeros = Pick<Candidate, 'carrierName' | 'trackingNumber'>;

/**
 * Returns the numbers with one and two zeros in front that have a carrier's right check digit, if the number as it is has none. A
 * spreadsheet removes the zeros of a column of numbers.
 */
export function withLostZeros(trackingNumber: string): LostZeros[] {
  const { folded } = toElement(trackingNumber);
  if (!OF_DIGITS.test(folded) || ROUNDED.test(folded) || isVerified(folded)) return [];
  return ['0', '00'].flatMap((zeros) => {
    const number = zeros + folded;
    const found = findCandidates(number).find(({ check }) => check === 'valid');
    return found ? [{ carrierName: found.carrierName, trackingNumber: number }] : [];
  });
}

/** The data set does not describe FedEx's 14 digits. Any 14 digits fit DHL's format without a check digit, which says nothing. */
const isVerified = (number: string): boolean =>
  findCandidates(number).some(({ check }) => check === 'valid') ||
  (FEDEX_14.test(number) && hasFedexCheckDigit(number));
