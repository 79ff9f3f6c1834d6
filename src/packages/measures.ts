import { invalidField } from '../errors.js';

/** Pounds with 3 decimals, as exact decimal text. @throws Fault validation_failed when nothing is left of it */
export const toPounds = (field: string, value: number): string => toDecimal(field, value, 3);

/** Inches with 2 decimals, as exact decimal text. @throws Fault validation_failed when nothing is left of it */
export const toInches = (field: string, value: number): string => toDecimal(field, value, 2);

// The contract's multipleOf has to forgive binary floating point, and with it lets 1e-10 through.
function toDecimal(field: string, value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  if (Number(text) === 0) throw invalidField(field, 'must be more than 0', 'exclusiveMinimum');
  return text;
}
