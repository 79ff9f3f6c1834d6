// USPS barcode: the application identifier 420, the destination ZIP code (5 or 9 digits), then the tracking number, which
// begins with 9 and has 20, 22, 26 or 30 digits.
const WITH_ZIP_PLUS_4 = /^420\d{9}(9\d{19}|9\d{21}|9\d{25}|9\d{29})$/;
const WITH_ZIP = /^420\d{5}(9\d{19}|9\d{21}|9\d{25}|9\d{29})$/;

/** The identifiers of USPS's numbers. */
const IDENTIFIER = /^9[1-5]/;

/**
 * Returns the tracking number in a barcode of USPS. A barcode may be read in two ways, with a ZIP code of 5 and of 9 digits. Then
 * the right check digit decides, next the identifier.
 */
export function uspsNumberIn(barcode: string): string | undefined {
  const long = WITH_ZIP_PLUS_4.exec(barcode)?.[1];
  const short = WITH_ZIP.exec(barcode)?.[1];
  if (long === undefined || short === undefined) return long ?? short;
  return scoreOf(short) > scoreOf(long) ? short : long;
}

const scoreOf = (number: string): number =>
  (hasUspsCheckDigit(number) ? 2 : 0) + (IDENTIFIER.test(number) ? 1 : 0);

/** Weights 3 and 1 from the right, modulo 10. */
function hasUspsCheckDigit(digits: string): boolean {
  const [check, ...others] = Array.from(digits, Number).reverse();
  const sum = others.reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10 === check;
}
