export type UnlikelyNumber = { code: 'unlikely_number'; message: string };

type Announced = { trackingNumber: string; userCode: string };

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
 * list of numbers, or a carrier's name beside digits in which no number is certain. Undefined for others. It is not refused, because carriers without a known
 * format may have any number (decision 0115).
 */
export function warnOfUnlikelyNumber(announced: Announced): UnlikelyNumber | undefined {
  const found = problemOf(announced);
  if (!found) return undefined;
  const { reason, cure } = found;
  const message = `The tracking number ${announced.trackingNumber} ${reason}, so no parcel is likely to have it. ${cure}`;
  return { code: 'unlikely_number', message };
}

const UNKNOWN_YET =
  'If it stands for a number that you do not know yet, delete the pre-alert, and announce the parcel with its number.';
const EACH = 'Delete the pre-alert, and announce each parcel with its own number.';
const ALONE = "Check the digits, and announce the parcel with the carrier's number alone.";

function problemOf({ trackingNumber, userCode }: Announced): { reason: string; cure: string } | undefined {
  const digits = trackingNumber.match(DIGIT)?.length ?? 0;
  if (digits === 0) return { reason: 'has no digit', cure: UNKNOWN_YET };
  if (folded(trackingNumber) === folded(userCode))
    return { reason: "is the customer's code", cure: UNKNOWN_YET };
  if (trackingNumber.split(BETWEEN_NUMBERS).filter(isLikeNumber).length > 1)
    return { reason: 'is several numbers', cure: EACH };
  const hasWords = digits >= MIN_BESIDE_WORDS && NAME_OF_CARRIER.test(trackingNumber);
  return hasWords ? { reason: 'has words beside the digits', cure: ALONE } : undefined;
}

const isLikeNumber = (piece: string): boolean =>
  piece.length >= MIN_PIECE.chars && (piece.match(DIGIT)?.length ?? 0) >= MIN_PIECE.digits;

/** As two spellings of one number are compared. */
const folded = (text: string): string => text.toUpperCase().replace(/[\s-]/g, '');
