/** A checksum as the data set describes it. */
export type Checksum =
  | { name: 'mod10'; evens_multiplier?: number; odds_multiplier?: number; reverse?: boolean }
  | { name: 'mod7' | 'luhn' | 's10' | 'mod_37_36' }
  | {
      name: 'sum_product_with_weightings_and_modulo';
      weightings: number[];
      modulo1: number;
      modulo2: number;
    };

const S10_WEIGHTS = [8, 6, 4, 2, 3, 5, 9, 7];
const BASE_36 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Returns whether the check character belongs to the serial. Both are digits or capital letters. */
export function hasCheckDigit(checksum: Checksum, serial: string, check: string): boolean {
  return expectedCheck(checksum, Array.from(serial)) === check;
}

/** How many values a checksum can take: the higher, the less likely a random number passes. */
export function strengthOf({ name }: Checksum): number {
  const strengths = { s10: 11, sum_product_with_weightings_and_modulo: 11, mod_37_36: 37 };
  return { mod7: 7, mod10: 10, luhn: 10, ...strengths }[name];
}

function expectedCheck(checksum: Checksum, serial: string[]): string {
  switch (checksum.name) {
    case 'mod10':
      return String(complement(mod10Sum(checksum, serial)));
    case 'luhn':
      return String(complement(luhnSum(serial)));
    case 'mod7':
      // A serial of up to 15 digits is exact as a number.
      return String(Number(serial.join('')) % 7);
    case 's10':
      return String(s10Check(weightedSum(serial, S10_WEIGHTS) % 11));
    case 'mod_37_36':
      return mod3736(serial);
    case 'sum_product_with_weightings_and_modulo':
      return String((weightedSum(serial, checksum.weightings) % checksum.modulo1) % checksum.modulo2);
  }
}

const complement = (sum: number): number => (10 - (sum % 10)) % 10;

type Mod10 = Extract<Checksum, { name: 'mod10' }>;

/** A letter counts as its ASCII code less 3, modulo 10. Positions count from 0. */
function mod10Sum(
  { evens_multiplier: even = 1, odds_multiplier: odd = 1, reverse }: Mod10,
  serial: string[],
) {
  const ordered = reverse ? serial.toReversed() : serial;
  return ordered.reduce((sum, character, position) => {
    const value = /\d/.test(character) ? Number(character) : (character.charCodeAt(0) - 3) % 10;
    return sum + value * (position % 2 === 0 ? even : odd);
  }, 0);
}

/** The sum of the digits of each product, from the right with weights 2 and 1. */
function luhnSum(serial: string[]): number {
  return serial.toReversed().reduce((sum, digit, position) => {
    const product = Number(digit) * (position % 2 === 0 ? 2 : 1);
    return sum + (product > 9 ? product - 9 : product);
  }, 0);
}

const weightedSum = (serial: string[], weights: number[]): number =>
  serial.reduce((sum, digit, position) => sum + Number(digit) * (weights[position] ?? 0), 0);

function s10Check(remainder: number): number {
  if (remainder === 0) return 5;
  return remainder === 1 ? 0 : 11 - remainder;
}

/** ISO 7064, MOD 37,36. */
function mod3736(serial: string[]): string {
  const product = serial.reduce((running, character) => {
    const sum = (running + BASE_36.indexOf(character)) % 36 || 36;
    return (sum * 2) % 37;
  }, 36);
  return BASE_36.charAt((37 - product) % 36);
}
