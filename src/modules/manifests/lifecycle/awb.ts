import type { components } from '../../../../generated/contract.js';

export type AwbCheck = components['schemas']['AwbCheck'];

// Airline's prefix, seven-digit serial, check digit: `123-12345675` or eleven digits.
const AIR_WAYBILL = /^\d{3}-?(\d{7})(\d)$/;

/** The airline's prefix: the number's leading three digits, where it has them. */
export function airlinePrefixOf(awbNumber: string | null): string | null {
  return /^\d{3}/.exec(awbNumber ?? '')?.[0] ?? null;
}

/** Whether the last digit is the serial modulo 7, as IATA has it. Advice: nothing is refused for it. */
export function checkAwb(awbNumber: string | null): AwbCheck {
  const [, serial, checkDigit] = AIR_WAYBILL.exec(awbNumber ?? '') ?? [];
  if (!serial || !checkDigit) return 'not_checked';
  return Number(serial) % 7 === Number(checkDigit) ? 'valid' : 'invalid';
}
