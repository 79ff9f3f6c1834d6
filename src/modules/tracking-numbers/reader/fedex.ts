/** Of FedEx's check digit, from the right. */
const WEIGHTS = [1, 3, 7];

/**
 * FedEx check digit: weights 1, 3, 7 from the right, modulo 11, then modulo 10. The rule is the same for 12
 * and 14 digits.
 */
export const hasFedexCheckDigit = (digits: string): boolean =>
  fedexRemainder(digits) % 10 === digitAt(digits, digits.length - 1);

/** The weighted sum of the digits in front of the check digit, modulo 11. */
function fedexRemainder(digits: string): number {
  const last = digits.length - 2;
  let sum = 0;
  for (let at = last; at >= 0; at -= 1) sum += digitAt(digits, at) * (WEIGHTS[(last - at) % 3] ?? 0);
  return sum % 11;
}

const digitAt = (digits: string, at: number): number => digits.charCodeAt(at) - 48;

/** The digits that FedEx's barcode can have in front of 12 digits. */
const TENS = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, '0'));

/** Whether two digits in front of 12 keep their check digit right: theirs have the weights 1 and 7, as in `fedexRemainder`. */
const keepsCheckDigit = (two: string, remainder: number): boolean =>
  ((remainder + digitAt(two, 0) + 7 * digitAt(two, 1)) % 11) % 10 === remainder % 10;

/** By the remainder of the 12 digits: the about ten pairs that keep the check digit. Trying all of them takes 25 times as long. */
const PREFIXES = Array.from({ length: 11 }, (_, remainder) =>
  TENS.filter((two) => keepsCheckDigit(two, remainder)),
);

/** Returns the numbers of 14 digits with a right check digit that end in these 12, whose check digit is right. */
export const fedexNumbersEndingIn = (digits: string): string[] =>
  (PREFIXES[fedexRemainder(digits)] ?? []).map((two) => two + digits);
