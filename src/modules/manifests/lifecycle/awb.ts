import type { components } from '../../../../generated/contract.js';
import { randomText } from '../../../platform/values/ids.js';

export type AwbCheck = components['schemas']['AwbCheck'];

// Airline prefix, seven-digit serial and check digit: `123-12345675` or eleven digits.
const AIR_WAYBILL = /^\d{3}-?(\d{7})(\d)$/;

/** Returns the airline prefix, the leading three digits, or null if the number has none. */
export function airlinePrefixOf(awbNumber: string | null): string | null {
  return /^\d{3}/.exec(awbNumber ?? '')?.[0] ?? null;
}

/**
 * Checks whether the last digit is the serial modulo 7, as defined by IATA. Only informs: no request is
 * rejected for it.
 */
export function checkAwb(awbNumber: string | null): AwbCheck {
  const [, serial, checkDigit] = AIR_WAYBILL.exec(awbNumber ?? '') ?? [];
  if (!serial || !checkDigit) return 'not_checked';
  return Number(serial) % 7 === Number(checkDigit) ? 'valid' : 'invalid';
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
const SUFFIX_LENGTH = 4;

/**
 * Returns the random suffix of `MAN-YYYYMMDD-XXXX`. 1.68 million are possible per day: even the
 * ten-thousandth manifest of a day collides in only 0.6 % of tries, and the caller retries.
 */
export const newSuffix = (): string => randomText(ALPHABET, SUFFIX_LENGTH);
