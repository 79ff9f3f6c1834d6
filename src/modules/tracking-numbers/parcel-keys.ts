import { halfOf } from './reader/noise.js';
import { readScan, type ScanReading } from './reader/read-scan.js';
import { hasFedexCheckDigit, trackingKey } from './tracking-key.js';

/** Most numbers: nothing to remove, and one spelling. */
const PLAIN = /^[0-9A-Z][0-9A-Z-]*$/;

/** FedEx's 12 digits, padded to 14 as in its barcodes. */
const FEDEX_PADDED = /^00\d{12}$/;

const FEDEX_34 = /^(?:[0-8]\d|96)\d{32}$/;

/** FedEx Ground's barcode of 22 digits, which ends with the tracking number of 15. */
const FEDEX_GROUND_96 = /^96\d{20}$/;

/**
 * Returns the key of a parcel that its package and pre-alerts store: equal for the spellings of one tracking number.
 * A text that no carrier's format describes keeps its characters.
 */
export function parcelKey(trackingNumber: string): string {
  const trimmed = trackingNumber.trim();
  return canonicalKey(numberIn(trimmed, readUnlessPlain(trimmed)));
}

export type ParcelKeys = {
  /** The scanned text as the package stores it. */
  trackingNumber: string;
  /** The key that the package stores. */
  key: string;
  /** All keys that stored rows of the parcel can have, the package's own first. */
  keys: string[];
};

/**
 * Returns the keys under which a scanned parcel can be found: also those of a shorter number inside its barcode, of one
 * half of a doubled scan, and the key that rows from before decision 0055 have.
 */
export function parcelKeys(scan: string): ParcelKeys {
  const trimmed = scan.trim();
  const reading = readUnlessPlain(trimmed);
  const number = numberIn(trimmed, reading);
  const key = canonicalKey(number);
  const keys = [key, trackingKey(number), ...innerKeys(number), trackingKey(trimmed), ...halfKeys(number)];
  return { trackingNumber: reading?.text || trimmed, key, keys: [...new Set(keys)] };
}

const readUnlessPlain = (trimmed: string): ScanReading | undefined =>
  PLAIN.test(trimmed) && halfOf(trimmed) === undefined ? undefined : readScan(trimmed);

/** Returns the number that a format describes, else the text without what the scanner added. */
function numberIn(trimmed: string, reading: ScanReading | undefined): string {
  if (!reading) return trimmed;
  const [number, another] = reading.candidates.length > 0 ? reading.numbers : [];
  return (another === undefined && number) || reading.text || trimmed;
}

function canonicalKey(number: string): string {
  const key = trackingKey(number);
  return FEDEX_PADDED.test(key) && hasFedexCheckDigit(key) ? key.slice(2) : key;
}

/** Returns the keys of shorter numbers in a barcode. */
function innerKeys(number: string): string[] {
  if (FEDEX_34.test(number) && hasFedexCheckDigit(number.slice(-14)))
    return [number.slice(-14), number.slice(-12)];
  return FEDEX_GROUND_96.test(number) ? [number.slice(-15)] : [];
}

/** A shorter text is not a doubled scan: house numbers, the shortest that are scanned, have seven characters. */
const MIN_HALF = 7;

function halfKeys(number: string): string[] {
  const half = halfOf(number);
  return half !== undefined && half.length >= MIN_HALF ? [canonicalKey(half)] : [];
}
