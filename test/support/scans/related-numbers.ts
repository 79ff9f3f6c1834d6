const hasCheckDigit = (digits: string): boolean => {
  const [check, ...others] = Array.from(digits, Number).reverse();
  return (others.reduce((sum, digit, n) => sum + digit * ([1, 3, 7][n % 3] ?? 0), 0) % 11) % 10 === check;
};

export const random = (most: number) => Math.floor(Math.random() * most);
const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('');

/** The numbers of a family, by their role: 12 digits, two of 14 that end in them, a label of the first, and an unrelated one. */
export type Family = Record<'short' | 'one' | 'two' | 'label' | 'other' | 'lower', string>;

export function makeFamily(): Family {
  for (;;) {
    const short = `7${digits(11)}`;
    const prefixes = Array.from({ length: 99 }, (_, n) => String(n + 1).padStart(2, '0'));
    const [one, two] = hasCheckDigit(short)
      ? prefixes.map((prefix) => prefix + short).filter(hasCheckDigit)
      : [];
    if (!one || !two) continue;
    const other = `OTHER-${digits(9)}X`;
    return { short, one, two, label: `96220019${digits(12)}${one}`, other, lower: other.toLowerCase() };
  }
}

/** A FedEx number of 12 digits with a right check digit. */
export function fedexNumber(): string {
  for (;;) {
    const number = `7${digits(11)}`;
    if (hasCheckDigit(number)) return number;
  }
}
