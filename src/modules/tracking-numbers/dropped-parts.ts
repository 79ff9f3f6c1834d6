import { isIncidental } from './reader/incidental.js';
import { NAME } from './reader/in-groups.js';
import { elementsIn, toElement, type Element } from './reader/noise.js';

/** A number of a pre-alert as it was sent and as it is stored, with the keys of its parcel. */
export type ReadNumber = { sentNumber: string; trackingNumber: string; keys: string[] };

const LINK = /https?:|www\.|\.com\b/i;
const BETWEEN_WORDS = /[^0-9A-Z]+/;
const DIGIT = /\p{Nd}/u;

/** Other digits of a link are names of its parameters. */
const MIN_IN_LINK = { chars: 10, digits: 7 };

/**
 * Returns whether a text had more than its number and words: another line, a quantity, a second number. What a scanner adds, the
 * destination's ZIP code, the same number again and the words around a number are not meant.
 */
export function hasDroppedPart({ sentNumber, trackingNumber, keys }: ReadNumber): boolean {
  if (sentNumber === trackingNumber) return false;
  const { folded } = toElement(trackingNumber);
  const elements = elementsIn(sentNumber);
  const own = elements.filter((element) => !isIncidental(element));
  // The scanner sent separators inside the number.
  if ([elements, own].some((parts) => parts.map((part) => part.folded).join('') === folded)) return false;
  // The text as a whole is a key too, for rows of earlier versions.
  const isSame = (element: Element) => elements.length > 1 && keys.includes(element.folded);
  return own.some((element) => !isSame(element) && isMore(element, folded));
}

function isMore({ text, folded }: Element, number: string): boolean {
  const rest = folded.replaceAll(number, ' ');
  if (LINK.test(text)) return rest.split(BETWEEN_WORDS).some(isLikeNumber);
  return DIGIT.test(rest) || (rest === folded && !NAME.test(text));
}

const isLikeNumber = (word: string): boolean =>
  word.length >= MIN_IN_LINK.chars && word.replace(/\D/g, '').length >= MIN_IN_LINK.digits;
