import { isIncidental, upsNumberIn } from './reader/incidental.js';
import type { Element, Read } from './reader/noise.js';
import { toScannedNumber, type ScannedNumber } from './scanned-number.js';

/** More elements are data of a matrix code. Each costs time, so their number limits the work. */
export const MAX_NUMBERS = 4;
const MAX_PARTS = 16;

/** A shorter element beside a longer one is no number of a parcel: a country, a service, a weight. */
const MIN_ELEMENT = 4;

/** Fewer digits that are joined from elements can fit a format by chance. */
const DIGITS_BY_CHANCE = /^\d{1,27}$/;

type Part = Element & {
  /** The places of its elements in the scan. */
  places: number[];
};

/**
 * Returns the numbers that a scan may mean, at most four. Those that fit a format are not left out, because they keep the others
 * from deciding.
 */
export function numbersOf(reads: Read[], sent: string[]): ScannedNumber[] {
  const parts = longOf(distinct(placed(reads).flatMap((read) => partsOf(read, sent)))).slice(0, MAX_PARTS);
  const numbers = new Map<string, ScannedNumber>();
  for (const part of parts) {
    const number = read(part, sent);
    const same = numbers.get(number.key);
    if (same) same.places.push(...part.places);
    else numbers.set(number.key, number);
  }
  const all = withoutInner([...numbers.values()]);
  if (all.length <= MAX_NUMBERS) return all;
  return [...all.filter(isDescribed), ...all.filter((number) => !isDescribed(number))].slice(0, MAX_NUMBERS);
}

/**
 * Leaves out a number in one symbol that the label in another symbol contains: both are one parcel. The label tells more, for
 * example all 14 digits of FedEx.
 */
function withoutInner(numbers: ScannedNumber[]): ScannedNumber[] {
  return numbers.filter((number) => {
    const label = numbers.find((other) => containsOther(other, number));
    label?.places.push(...number.places);
    return !label;
  });
}

const containsOther = (label: ScannedNumber, { key, folded, places }: ScannedNumber): boolean =>
  label.folded.length > folded.length &&
  label.keys.includes(key) &&
  !label.places.some((place) => places.includes(place));

const isDescribed = ({ candidates }: ScannedNumber): boolean => candidates.length > 0;

function placed(reads: Read[]): Part[][] {
  let place = 0;
  return reads.map((elements) => elements.map((element) => ({ ...element, places: [place++] })));
}

const read = (part: Part, sent: string[]): ScannedNumber => ({
  ...toScannedNumber(part, sent),
  places: [...part.places],
});

/** Returns what may be a number in one symbol: its elements, and all of them as one number. */
function partsOf(elements: Part[], sent: string[]): Part[] {
  const ups = upsNumberIn(elements.map(({ folded }) => folded));
  if (ups !== undefined)
    return [{ text: ups, folded: ups, places: elements.flatMap(({ places }) => places) }];
  const [first, second] = elements;
  if (!first || !second) return elements;
  const whole = join(elements);
  if (elements.length < MAX_NUMBERS && isCertain(whole, elements, sent)) return [whole];
  const own = elements.filter((element) => !isIncidental(element));
  const long = own.filter(({ folded }) => folded.length >= MIN_ELEMENT);
  if (own.length < 2) return own.length === 0 ? elements : own;
  return own.length < MAX_NUMBERS || long.length === 0 ? [join(own), ...long] : long;
}

/** Returns whether elements are one number: USPS's after a ZIP code, or a number in which the scanner sent a separator. */
function isCertain(whole: Part, elements: Part[], sent: string[]): boolean {
  if (DIGITS_BY_CHANCE.test(whole.folded)) return false;
  const { key, candidates } = read(whole, sent);
  if (!candidates.some(({ check }) => check === 'valid')) return false;
  const others = elements.map((element) => read(element, sent)).filter((number) => number.key !== key);
  return others.every((number) => number.candidates.every(({ check }) => check !== 'valid'));
}

/** Leaves out what is no number of a parcel, if something else was scanned. */
function longOf(parts: Part[]): Part[] {
  const own = parts.filter((part) => !isIncidental(part));
  const long = own.filter(({ folded }) => folded.length >= MIN_ELEMENT);
  if (long.length > 0) return long;
  return own.length > 0 ? own : parts;
}

const join = (elements: Part[]): Part => ({
  text: elements.map(({ text }) => text).join(''),
  folded: elements.map(({ folded }) => folded).join(''),
  places: elements.flatMap(({ places }) => places),
});

function distinct(parts: Part[]): Part[] {
  const found = new Map<string, Part>();
  for (const part of parts) {
    const same = found.get(part.folded);
    if (same) same.places.push(...part.places);
    else found.set(part.folded, { ...part, places: [...part.places] });
  }
  return [...found.values()];
}
