import type { Candidate } from './reader/candidates.js';
import { joinedIn } from './reader/in-words.js';
import { isNoNumber } from './reader/incidental.js';
import { hasControlCharacter, plainText, readsIn, toElement } from './reader/noise.js';
import { MAX_NUMBERS, numbersOf } from './scan-numbers.js';
import { toScannedNumber, type ScannedNumber } from './scanned-number.js';
import { invalidFieldError, type ApiError, type FieldProblem } from '../../platform/errors/errors.js';

/** What a scan says. */
export type ScanReading = {
  /** The scan without what the scanner added. Empty if nothing else was scanned. */
  text: string;
  /**
   * The numbers that the scan may mean. Several if it has several symbols or elements: then a record that has one of them decides
   * (decision 0072).
   */
  numbers: ScannedNumber[];
  /** The carriers' formats that the numbers fit, best first. */
  candidates: Candidate[];
  /** Why the scan is no number. */
  problem: 'blank' | 'control_characters' | 'too_long' | 'no_parcel' | 'masked' | null;
};

/** A symbol on a parcel has fewer characters. Longer text is not compared with the formats. */
const MAX_LENGTH = 1_000;

/** As lists show a number to a courier that may not see it (masking.ts), or a person writes it. Frames of Code 39 are one asterisk at either end. */
const MASKED = /^(?:\*{2,}|…)[^*…]{4}$/u;

/** Most numbers: nothing to remove, and one spelling. A longer text may be two numbers. */
const PLAIN = /^(?:[0-9A-Z]+|[0-9A-Z][0-9A-Z-]{0,19})$/;

/**
 * Reads a scan: removes what the scanner added, and finds the carriers' formats that the number fits. All operations that take a
 * scan or a tracking number use it. It uses no database, and its time is proportional to the length of the text.
 */
export function readScan(scan: string): ScanReading {
  if (scan.length > MAX_LENGTH) return noNumber(plainText(scan), 'too_long');
  const trimmed = scan.trim();
  if (PLAIN.test(trimmed) && !joinedIn(trimmed))
    return toReading([toScannedNumber({ text: trimmed, folded: trimmed }, [])]);
  if (MASKED.test(trimmed)) return noNumber(trimmed, 'masked');
  const reads = readsIn(scan);
  const elements = reads.flat();
  if (elements.length === 0) return noNumber('', 'blank');
  if (elements.some(hasControlCharacter)) return noNumber(plainText(scan), 'control_characters');
  // Rows of earlier versions can have these keys. PostgreSQL stores no text with U+0000, and refuses a parameter with it.
  const sent = [plainText(scan), trimmed].filter((text) => !text.includes('\u0000'));
  const whole = toElement(scan);
  if (elements.length === 1 && !hasControlCharacter(whole)) sent.push(whole.folded);
  const numbers = stableOf(numbersOf(reads, sent), scan);
  const text = numbers.length === 1 ? undefined : plainText(scan);
  return numbers.length === 0 ? noNumber(plainText(scan), 'no_parcel') : toReading(numbers, text);
}

/** Whether the text is read as it is. A ZIP code alone is read as no number. */
const isPlain = (number: ScannedNumber): boolean =>
  number.text === number.folded && PLAIN.test(number.text) && !joinedIn(number.text) && !isNoNumber(number);

/**
 * Returns the numbers as their texts are read, which are stored and read again: an element of a matrix code may have words around a
 * number. Each text is shorter than the scan, or has fewer signs to remove, so this ends.
 */
function stableOf(numbers: ScannedNumber[], scan: string): ScannedNumber[] {
  const read = new Map<string, ScannedNumber>();
  for (const number of numbers) {
    const isRead = number.text === scan || isPlain(number);
    const again = isRead ? [number] : readScan(number.text).numbers;
    const [only, another] = again;
    const keys = only && !another ? [...new Set([...only.keys, ...number.keys])] : undefined;
    for (const each of again) {
      const same = read.get(each.key);
      if (same) same.places.push(...number.places);
      else read.set(each.key, { ...each, keys: keys ?? each.keys, places: [...number.places] });
    }
  }
  return [...read.values()].slice(0, MAX_NUMBERS);
}

const noNumber = (text: string, problem: ScanReading['problem']): ScanReading => ({
  text,
  numbers: [],
  candidates: [],
  problem,
});

function toReading(numbers: ScannedNumber[], text = numbers[0]?.text ?? ''): ScanReading {
  const [only, another] = numbers;
  if (only && !another && isNoNumber(only)) return noNumber(only.text, 'no_parcel');
  return { text, numbers, candidates: numbers.flatMap(({ candidates }) => candidates), problem: null };
}

/** Returns the tracking number in a field. @throws ApiError validation_failed if there is none, or more than one */
export function readNumber(text: string, field: string): ScannedNumber {
  const reading = readScan(text);
  const [number, another] = reading.numbers;
  if (!number || another) throw notOneNumber(reading, field);
  return number;
}

/** Returns the error for a scan that is no number, or that has several and no record decides between them. */
export const notOneNumber = (reading: ScanReading, field: string): ApiError =>
  invalidFieldError(field, ...whyNotOneNumber(reading));

/** Returns why a scan is not exactly one number, as the problem of a field. */
export function whyNotOneNumber({ text, numbers, problem }: ScanReading): FieldProblem {
  if (problem === 'control_characters') return ['control_characters_in_number'];
  if (problem === 'masked') return ['masked_number'];
  if (problem === 'no_parcel') return ['no_parcel_number', { text }];
  if (numbers.length === 0) return ['no_number'];
  return ['several_numbers', { numbers: numbers.map(({ text }) => text).join(', ') }];
}
