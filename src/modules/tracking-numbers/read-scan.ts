import type { Candidate } from './reader/candidates.js';
import { hasControlCharacter, plainText, readsIn, type Element, type Read } from './reader/noise.js';
import { toScannedNumber, type ScannedNumber } from './scanned-number.js';

/** What a scan says. */
export type ScanReading = {
  /** The scan without what the scanner added. Empty if nothing else was scanned. */
  text: string;
  /**
   * The numbers that the scan may mean. Several if it has several symbols or elements, and no format describes the whole: then a
   * record that has one of them decides (decision 0072).
   */
  numbers: ScannedNumber[];
  /** The carriers' formats that the numbers fit, best first. */
  candidates: Candidate[];
  /** Why the scan is no number. */
  problem: 'blank' | 'control_characters' | 'too_long' | null;
};

/** A symbol on a parcel has fewer characters. Longer text is not compared with the formats. */
const MAX_LENGTH = 1_000;

/** More elements are data of a matrix code. Each is compared with the formats, so their number limits the work. */
const MAX_NUMBERS = 4;

/** A shorter element of a matrix code is no number of a parcel: a country, a service, a weight. */
const MIN_ELEMENT = 4;

/** Most numbers: nothing to remove, and one spelling. */
const PLAIN = /^[0-9A-Z][0-9A-Z-]*$/;

/**
 * Reads a scan: removes what the scanner added, and finds the carriers' formats that the number fits. All operations that take a
 * scan or a tracking number use it. It uses no database, and its time is proportional to the length of the text.
 */
export function readScan(scan: string): ScanReading {
  if (scan.length > MAX_LENGTH) return noNumber(plainText(scan), 'too_long');
  const trimmed = scan.trim();
  if (PLAIN.test(trimmed)) return toReading([toScannedNumber({ text: trimmed, folded: trimmed }, [])]);
  const reads = readsIn(scan);
  const elements = reads.flat();
  if (elements.length === 0) return noNumber('', 'blank');
  if (elements.some(hasControlCharacter)) return noNumber(plainText(scan), 'control_characters');
  // Rows of earlier versions can have these keys.
  const sent = [plainText(scan), trimmed];
  const numbers = numbersOf(reads, sent);
  return toReading(numbers, numbers.length > 1 ? plainText(scan) : undefined);
}

const noNumber = (text: string, problem: ScanReading['problem']): ScanReading => ({
  text,
  numbers: [],
  candidates: [],
  problem,
});

const toReading = (numbers: ScannedNumber[], text = numbers[0]?.text ?? ''): ScanReading => ({
  text,
  numbers,
  candidates: numbers.flatMap(({ candidates }) => candidates),
  problem: null,
});

/** Returns the number of the whole scan if it has one element or fits a format, else the numbers of its parts. */
function numbersOf(reads: Read[], sent: string[]): ScannedNumber[] {
  const whole = toScannedNumber(joinElements(reads.flat()), sent);
  const [first, second] = reads;
  if (first?.length === 1 && !second) return [whole];
  const isNumber = second
    ? whole.candidates.some(({ check }) => check === 'valid')
    : whole.candidates.length > 0;
  if (isNumber) return [whole];
  const numbers = new Map<string, ScannedNumber>();
  for (const part of distinct(reads.flatMap(partsOf)).slice(0, MAX_NUMBERS)) {
    const number = toScannedNumber(part, sent);
    if (!numbers.has(number.key)) numbers.set(number.key, number);
  }
  return [...numbers.values()];
}

/** Returns the read as one number, and its elements. A matrix code of many elements is not one number. */
function partsOf(read: Read): Element[] {
  if (read.length === 1) return read;
  const long = read.filter(({ folded }) => folded.length >= MIN_ELEMENT);
  return read.length < MAX_NUMBERS || long.length === 0 ? [joinElements(read), ...long] : long;
}

const joinElements = (elements: Element[]): Element => ({
  text: elements.map(({ text }) => text).join(''),
  folded: elements.map(({ folded }) => folded).join(''),
});

const distinct = (elements: Element[]): Element[] => [
  ...new Map(elements.map((element) => [element.folded, element])).values(),
];
