import {
  checkCharacter,
  isHouseNumber,
  SERIAL_ALPHABET,
} from '../../../src/modules/packages/intake/house-number.js';
import { trackingKey } from '../../../src/modules/tracking-numbers/tracking-key.js';
import {
  withDhlCheck,
  withFedexCheck,
  withUpsCheck,
  withUspsCheck,
} from '../../../fixtures/reference/tracking-numbers.js';
import { permute } from './permutation.js';
import { replaceWord } from './words.js';

type Format = {
  pattern: RegExp;
  /** The number of characters that identify the carrier. They stay. */
  kept: number;
  /** Returns the number with its check digit. */
  complete?: (body: string) => string;
};

const FORMATS: Format[] = [
  { pattern: /^1Z[0-9A-Z]{16}$/, kept: 2, complete: (body) => `1Z${withUpsCheck(body.slice(2))}` },
  { pattern: /^9(\d{19}|\d{21}|\d{25}|\d{29})$/, kept: 2, complete: withUspsCheck },
  { pattern: /^TB[AMC]\d{12}$/, kept: 3 },
  { pattern: /^C\d{14}$/, kept: 1, complete: withUpsCheck },
  { pattern: /^(\d{12}|\d{14})$/, kept: 0, complete: withFedexCheck },
  { pattern: /^\d{10}$/, kept: 0, complete: withDhlCheck },
];

/** The letters and digits before the tracking number in a barcode that identify the carrier's format. */
const KEPT_OF_BARCODE = 3;

/**
 * Returns the replacement of a tracking number in the same format, with a valid check digit exactly if it had one; undefined
 * if it has no known format. A barcode and the shorter number that it contains stay spellings of one number.
 */
export function replaceTrackingNumber(key: string, number: string): string | undefined {
  const short = trackingKey(number);
  if (short === number) return replaceShortNumber(key, number);
  const start = number.lastIndexOf(short);
  const before = number.slice(KEPT_OF_BARCODE, start);
  const replaced = replaceShortNumber(key, short) ?? replaceWord(key, short);
  const barcode = (middle: string) =>
    number.slice(0, KEPT_OF_BARCODE) + middle + replaced + number.slice(start + short.length);
  const changed = barcode(replaceWord(key, before));
  // Routing digits may happen to look like the beginning of another number.
  return trackingKey(changed) === replaced ? changed : barcode(before);
}

function replaceShortNumber(key: string, number: string): string | undefined {
  const format = FORMATS.find(({ pattern }) => pattern.test(number));
  if (!format) return undefined;
  const { kept, complete } = format;
  const replace = (text: string) => text.slice(0, kept) + replaceWord(key, text.slice(kept));
  if (!complete) return replace(number);
  if (complete(number.slice(0, -1)) === number) return complete(replace(number.slice(0, -1)));
  // Repeated until the check digit is wrong too, so that no two numbers get the same replacement.
  let replaced = replace(number);
  while (complete(replaced.slice(0, -1)) === replaced) replaced = replace(replaced);
  return replaced;
}

/** Returns another house number with a valid check character; undefined if the text is no house number. */
export function replaceHouseNumber(key: string, text: string): string | undefined {
  if (!isHouseNumber(text)) return undefined;
  const radix = SERIAL_ALPHABET.length;
  const serial = Array.from(text.slice(0, -1), (character) => ({
    value: SERIAL_ALPHABET.indexOf(character),
    radix,
  }));
  const replaced = permute(`${key} house number`, serial)
    .map((value) => SERIAL_ALPHABET.charAt(value))
    .join('');
  return replaced + checkCharacter(replaced);
}

/** Returns another air waybill of the same airline, with a valid check digit exactly if it had one. */
export function replaceAwbNumber(key: string, text: string): string | undefined {
  const [, airline, serial, check] = /^(\d{3}-?)(\d{7})(\d)$/.exec(text) ?? [];
  if (!airline || !serial || !check) return undefined;
  const replaced = replaceWord(`${key} awb`, serial);
  const offset = Number(check) - (Number(serial) % 7);
  return `${airline}${replaced}${((Number(replaced) % 7) + offset + 10) % 10}`;
}
