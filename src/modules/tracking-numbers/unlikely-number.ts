import { hasDroppedPart, type ReadNumber } from './dropped-parts.js';
import { withLostZeros } from './lost-zeros.js';

export type UnlikelyNumber = { code: 'unlikely_number'; message: string };

type Announced = ReadNumber & { userCode: string };

const DIGIT = /\p{Nd}/gu;

/** What stands before a number on labels and in mails: the names of carriers, and words for a tracking number. */
const NAME_OF_CARRIER =
  /(?<![\p{L}\p{N}])(?:fedex|ups|usps|dhl|dpd|amazon|ontrac|lasership|purolator|trk|track(?:ing)?|gu[ií]a)(?![\p{L}\p{N}])/iu;

/** What a program or a person writes between two numbers of a list. */
const BETWEEN_NUMBERS = /[\s,;|/+&]+/;

/** Shorter pieces may be a part of a number, its quantity or a reference. */
const MIN_PIECE = { chars: 10, digits: 7 };

/** Fewer digits beside a word are a reference. */
const MIN_BESIDE_WORDS = 8;

/**
 * Returns the warning about a text that is stored as a tracking number and is most likely none: `N/A`, `TBD`, the customer's code, a
 * list of numbers, a carrier's name beside digits in which no number is certain, a number without its leading zeros, or one of which
 * a part was not used. Undefined for others. It is not refused, because carriers without a known format may have any number
 * (decision 0115).
 */
export function warnOfUnlikelyNumber(announced: Announced): UnlikelyNumber | undefined {
  const message = problemOf(announced);
  return message === undefined ? undefined : { code: 'unlikely_number', message };
}

const UNKNOWN_YET =
  'If it stands for a number that you do not know yet, delete the pre-alert, and announce the parcel with its number.';
const EACH = 'Delete the pre-alert, and announce each parcel with its own number.';
const ALONE = "Check the digits, and announce the parcel with the carrier's number alone.";

function problemOf(announced: Announced): string | undefined {
  const { sentNumber, trackingNumber, userCode } = announced;
  const unlikely = (reason: string, cure: string) =>
    `The tracking number ${trackingNumber} ${reason}, so no parcel is likely to have it. ${cure}`;
  const digits = trackingNumber.match(DIGIT)?.length ?? 0;
  if (digits === 0) return unlikely('has no digit', UNKNOWN_YET);
  if (folded(trackingNumber) === folded(userCode)) return unlikely("is the customer's code", UNKNOWN_YET);
  if (trackingNumber.split(BETWEEN_NUMBERS).filter(isLikeNumber).length > 1)
    return unlikely('is several numbers', EACH);
  if (digits >= MIN_BESIDE_WORDS && NAME_OF_CARRIER.test(trackingNumber))
    return unlikely('has words beside the digits', ALONE);
  if (hasDroppedPart(announced))
    return `The tracking number was stored as ${trackingNumber}, which is only a part of what was sent: ${JSON.stringify(sentNumber)}. If the rest belongs to the number or is another parcel, correct the pre-alert, or announce the other parcel with its own number.`;
  return problemOfZeros(trackingNumber);
}

function problemOfZeros(trackingNumber: string): string | undefined {
  const found = withLostZeros(trackingNumber);
  if (found.length === 0) return undefined;
  const numbers = found.map(({ trackingNumber, carrierName }) => `${trackingNumber} (${carrierName})`);
  return `The tracking number ${trackingNumber} may lack zeros in front, as spreadsheets remove them. With zeros, the check digit is right: ${numbers.join(', ')}. Compare it with the carrier's message. If the zeros are missing, delete the pre-alert, and announce the parcel with them.`;
}

const isLikeNumber = (piece: string): boolean =>
  piece.length >= MIN_PIECE.chars && (piece.match(DIGIT)?.length ?? 0) >= MIN_PIECE.digits;

/** As two spellings of one number are compared. */
const folded = (text: string): string => text.toUpperCase().replace(/[\s-]/g, '');
