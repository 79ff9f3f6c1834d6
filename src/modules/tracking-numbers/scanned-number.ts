import { trackingKey } from './tracking-key.js';
import { fedexNumbersEndingIn, hasFedexCheckDigit } from './reader/fedex.js';
import { uspsNumberIn } from './reader/usps.js';
import { findCandidates, type Candidate } from './reader/candidates.js';
import { toElement, type Element } from './reader/noise.js';
import { halfOfSpaced, repetitionIn } from './reader/repetition.js';

/** A number in a scan. */
export type ScannedNumber = {
  /** The number as it is stored and shown: in the spelling that was sent, without what the scanner added. */
  text: string;
  /** The number without padding, in capital letters: what house numbers are compared with. */
  folded: string;
  /** The key that rows of the parcel store: equal for all spellings, and for a barcode and the number inside it. */
  key: string;
  /** All keys that stored rows of the parcel can have, `key` first. */
  keys: string[];
  /** The carriers' formats that the number fits, best first. */
  candidates: Candidate[];
  /** The places of its elements in the scan. */
  places: number[];
};

/**
 * Reads one number. A code that was sent several times is read once.
 *
 * @param sent the text as it was sent: rows of earlier versions can have it as their key
 */
export function toScannedNumber(element: Element, sent: string[]): ScannedNumber {
  const { text, folded, candidates: fitting } = readOnce(element);
  const candidates = carriersOwn(folded, fitting);
  const key = keyOf(folded, candidates);
  const inside = candidates.map(({ trackingNumber }) => withoutPadding(trackingNumber));
  const whole = folded === element.folded ? [] : [element.folded];
  const keys = [
    key,
    ...inside.filter((number) => number !== folded),
    trackingKey(folded),
    ...relatedKeys(folded),
  ];
  keys.push(...whole, trackingKey(text), ...sent);
  return { text, folded, key, keys: [...new Set(keys)], candidates, places: [0] };
}

function readOnce(element: Element): Element & { candidates: Candidate[] } {
  const candidates = findCandidates(element.folded);
  const once = onceOf(element, candidates);
  return once ? readOnce(once) : { ...element, candidates };
}

/** Returns the code that was sent several times. A carrier's number of equal parts is one code, unless a part is one as well. */
function onceOf({ text, folded }: Element, candidates: Candidate[]): Element | undefined {
  const repeated = repetitionIn(folded);
  if (!repeated) {
    const half = candidates.length === 0 ? halfOfSpaced(text) : undefined;
    return half === undefined ? undefined : toElement(half);
  }
  const isOne = candidates.some(({ check }) => check === 'valid');
  if (isOne && findCandidates(repeated).length === 0) return undefined;
  const spelled = toElement(repetitionIn(text) ?? '');
  return spelled.folded === repeated ? spelled : { text: repeated, folded: repeated };
}

/**
 * A barcode of USPS with 34 digits can fit FedEx's format by chance. Then it is USPS's, as trackingKey has it: the other
 * number inside is that of another parcel.
 */
const carriersOwn = (folded: string, candidates: Candidate[]): Candidate[] =>
  uspsNumberIn(folded) === undefined ? candidates : candidates.filter(({ carrier }) => carrier === 'usps');

/**
 * The number of the rules of trackingKey, else the number inside the barcode that a check digit verifies, as for DPD, else the
 * number itself.
 */
function keyOf(folded: string, candidates: Candidate[]): string {
  const key = trackingKey(folded);
  if (key !== folded) return withoutPadding(key);
  const inside = candidates.find(
    ({ check, trackingNumber }) => check === 'valid' && trackingNumber !== folded,
  );
  return withoutPadding(inside?.trackingNumber ?? folded);
}

/** FedEx's 12 digits, padded to 14 as in its barcodes. */
const FEDEX_PADDED = /^00\d{12}$/;

const withoutPadding = (number: string): string =>
  FEDEX_PADDED.test(number) && hasFedexCheckDigit(number) ? number.slice(2) : number;

const FEDEX_34 = /^(?:[0-8]\d|96)\d{32}$/;

/** FedEx's 12 digits can be the end of the 14 in its barcode, and both check digits right. */
const FEDEX_12 = /^\d{12}$/;
const FEDEX_14 = /^\d{14}$/;

/** GS1's serial shipping container code: 18 digits, behind 00 in a barcode. */
const SSCC = /^(?:00)?(\d{18})$/;

/** Returns the other keys that a label and the number inside it can have, so that each finds the other in any order. */
function relatedKeys(folded: string): string[] {
  const isFedexLabel = FEDEX_34.test(folded) && uspsNumberIn(folded) === undefined;
  if (isFedexLabel && hasFedexCheckDigit(folded.slice(-14))) return [folded.slice(-14), folded.slice(-12)];
  if (FEDEX_12.test(folded) && hasFedexCheckDigit(folded)) return fedexNumbersEndingIn(folded);
  if (FEDEX_14.test(folded) && hasFedexCheckDigit(folded) && hasFedexCheckDigit(folded.slice(-12)))
    return [folded.slice(-12)];
  const [, container] = SSCC.exec(folded) ?? [];
  return container !== undefined ? [container, `00${container}`] : [];
}
