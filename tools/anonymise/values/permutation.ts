import { createHash } from 'node:crypto';

/** A position of a text: one of `radix` symbols. */
export type Symbol = { value: number; radix: number };

/** An even number, so that both halves are changed equally often. NIST SP 800-38G uses 8 or 10. */
const ROUNDS = 8;

/** Longer sequences are permuted in parts. */
const MAX_SYMBOLS = 32;

/**
 * Replaces the symbols by others of the same alphabets. Equal inputs give equal outputs, and different inputs of one shape give
 * different outputs (a Feistel network, as in the format-preserving encryption FF1). Without the key it cannot be reversed.
 *
 * Our own, because libraries of FF1 know only one alphabet for all positions.
 *
 * @param key text that is different for each use
 */
export function permute(key: string, symbols: readonly Symbol[]): number[] {
  if (symbols.length <= MAX_SYMBOLS) return permutePart(key, symbols);
  const rest = permute(`${key} rest`, symbols.slice(MAX_SYMBOLS));
  return [...permutePart(key, symbols.slice(0, MAX_SYMBOLS)), ...rest];
}

function permutePart(key: string, symbols: readonly Symbol[]): number[] {
  const middle = Math.floor(symbols.length / 2);
  const halves = [symbols.slice(0, middle), symbols.slice(middle)] as const;
  const [leftSize, rightSize] = [sizeOf(halves[0]), sizeOf(halves[1])];
  let [left, right] = [toNumber(halves[0]), toNumber(halves[1])];
  const shape = `${key} ${leftSize} ${rightSize}`;
  for (let round = 0; round < ROUNDS; round += 2) {
    left = (left + pseudoRandom(`${shape} ${round} ${right}`)) % leftSize;
    right = (right + pseudoRandom(`${shape} ${round + 1} ${left}`)) % rightSize;
  }
  return [...toDigits(left, halves[0]), ...toDigits(right, halves[1])];
}

const sizeOf = (symbols: readonly Symbol[]) => symbols.reduce((size, { radix }) => size * BigInt(radix), 1n);

const toNumber = (symbols: readonly Symbol[]) =>
  symbols.reduce((total, { value, radix }) => total * BigInt(radix) + BigInt(value), 0n);

function toDigits(total: bigint, symbols: readonly Symbol[]): number[] {
  let rest = total;
  return symbols
    .toReversed()
    .map(({ radix }) => {
      const digit = rest % BigInt(radix);
      rest /= BigInt(radix);
      return Number(digit);
    })
    .toReversed();
}

/** SHAKE256 is a sponge, so hashing the key before the text is a keyed hash. 64 bytes are more than half a sequence has. */
const pseudoRandom = (text: string): bigint =>
  BigInt(`0x${createHash('shake256', { outputLength: 64 }).update(text).digest('hex')}`);
