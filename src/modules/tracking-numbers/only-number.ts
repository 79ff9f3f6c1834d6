import { invalidFieldError, type ApiError, type FieldProblem } from '../../platform/errors/errors.js';
import { readScan, type ScanReading } from './read-scan.js';
import type { ScannedNumber } from './scanned-number.js';

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

/** The same as a problem of a field. */
export function whyNotOneNumber({ text, numbers, problem }: ScanReading): FieldProblem {
  if (problem === 'control_characters') return ['control_characters_in_number'];
  if (problem === 'no_parcel') return ['no_parcel_number', { text }];
  if (numbers.length === 0) return ['no_number'];
  return ['several_numbers', { numbers: numbers.map(({ text }) => text).join(', ') }];
}
