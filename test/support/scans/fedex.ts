const WEIGHTS = [1, 3, 7];

/** Returns the serial with its check digit. */
function withCheckDigit(serial: string): string {
  const sum = Array.from(serial, Number)
    .reverse()
    .reduce((total, digit, n) => total + digit * (WEIGHTS[n % 3] ?? 0), 0);
  return serial + String((sum % 11) % 10);
}

let serials = 0;
/** Returns a FedEx number with a right check digit that no other test of this process uses. */
export const newFedex = (length: 12 | 14 = 12): string =>
  withCheckDigit(String((length === 12 ? 77_777_000_000 : 4_444_444_000_000) + (serials += 1)));

/** Returns the 34 digits of a label with the number inside. */
export const fedexLabel = (number: string): string => `10019213342500010003${number.padStart(14, '0')}`;
