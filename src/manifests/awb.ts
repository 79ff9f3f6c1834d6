import type { components } from '../../generated/contract.js';

export type AwbCheck = components['schemas']['AwbCheck'];

// Airline's prefix, seven-digit serial, check digit: `123-12345675` or eleven digits.
const AIR_WAYBILL = /^\d{3}-?(\d{7})(\d)$/;

/** The airline's prefix: the number's own leading digits and nothing else; without a number, the given one. */
export function airlinePrefix(awbNumber: string | null, givenPrefix: string | null): string | null {
  if (awbNumber === null) return givenPrefix;
  return /^\d{3}/.exec(awbNumber)?.[0] ?? null;
}

/** Whether the last digit is the serial modulo 7, as IATA has it. Advice: airlines do fly waybills that fail it. */
export function checkAwb(awbNumber: string | null): AwbCheck {
  const [, serial, checkDigit] = AIR_WAYBILL.exec(awbNumber ?? '') ?? [];
  if (!serial || !checkDigit) return 'not_checked';
  return Number(serial) % 7 === Number(checkDigit) ? 'valid' : 'invalid';
}
