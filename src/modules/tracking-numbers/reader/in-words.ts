// Carriers' numbers among words: "UPS 1Z…", a link to the carrier's page, a list.

import { findCandidates } from './candidates.js';
import { hasFedexCheckDigit } from './fedex.js';
import { groupedIn, NAME } from './in-groups.js';
import { repetitionIn } from './repetition.js';

/** A run of letters and digits. */
const WORD = /[0-9A-Za-z]+/g;
const ONE_WORD = /^[0-9A-Za-z]+$/;

/** A hyphen or an underscore joins a number with its piece, so that 1Z…-2 is another parcel than 1Z…. */
const JOINED = /[0-9A-Za-z\p{Pd}\p{Pc}\u2212]+/gu;
const JOINT = /[\p{Pd}\p{Pc}\u2212]+/u;
const HAS_JOINT_AT_END = /^[\p{Pd}\p{Pc}\u2212]|[\p{Pd}\p{Pc}\u2212]$/u;

/** Amazon's numbers have no check digit, but no other number begins so. */
const AMAZON = /^TB[ACM]\d{12}$/i;

/** White space on one side of a joint: `1Z… -2` is `1Z…-2`, but `1Z… - 2` is two words. */
const SPACE_AT_JOINT =
  /(?<!\s)\s+(?=[\p{Pd}\p{Pc}\u2212]+[\p{L}\p{N}])|(?<=[\p{L}\p{N}][\p{Pd}\p{Pc}\u2212]{1,9})\s+(?=[\p{L}\p{N}])/gu;

/** Digits, with the check character of DPD. One reference in ten fits such a format by chance; others have letters in fixed places. */
const OF_DIGITS = /^\d+[0-9A-Z]$/i;
const APART = /[\s#:]+/;

/** Some of FedEx's numbers have 14 digits, which the data set does not describe. Others have them by chance, so its name must be there. */
const FEDEX_14 = /^\d{14}$/;
const FEDEX = /fedex/i;

/** Fewer characters with a right check digit can be a part of another number by chance. */
const MIN_AMONG_WORDS = 12;
const MIN_IN_LIST = 10;

/** Two numbers that a scanner sent without anything between have at least so many characters: two of Amazon, or of the postal union. */
const MIN_JOINED = 26;

/** Fewer digits beside a number with letters are taken for a reference of the shop. */
const MIN_BESIDE_LETTERS = 15;

/**
 * Returns the numbers of carriers with a right check digit that one read has among other words, or the read itself if it has none, is a
 * number as a whole, or leaves a doubt: a parcel that is announced twice is found, one that is taken for another is not. Several
 * different numbers are separate reads.
 */
export function numbersAmongWords(read: string): string[] {
  if (ONE_WORD.test(read)) return joinedIn(read) ?? [read];
  const [only, ...others] = listedIn(read);
  if (only === undefined) return [groupedIn(read, (number) => isAmongWords(number, read)) ?? read];
  if (others.length > 0) return [only, ...others];
  const isLong = (only.match(WORD)?.[0] ?? '').length >= MIN_AMONG_WORDS;
  return isLong && !isNumberAsWhole(read, only) ? [only] : [read];
}

/** Also without a check digit: Amazon's letters, a space and its digits. The trigger may have sent the number several times. */
function isNumberAsWhole(read: string, only: string): boolean {
  const sent = compact(read);
  if (sent === compact(only)) return true;
  const whole = (repetitionIn(sent.toUpperCase()) ?? sent).replace(/[^0-9A-Za-z]/g, '');
  return whole.toUpperCase() !== only.toUpperCase() && findCandidates(whole.toUpperCase()).length > 0;
}

/** Returns the different numbers in a read, each with its piece. Empty if it is not certain which parts are numbers. */
function listedIn(read: string): string[] {
  const chunks = read.replace(SPACE_AT_JOINT, '').match(JOINED) ?? [];
  const lettered = chunks.map(letteredIn);
  if (lettered.some((numbers) => numbers.includes(undefined))) return [];
  const verified = lettered.flat().filter((number) => number !== undefined);
  const others = chunks.filter((_, place) => lettered[place]?.length === 0);
  const ofAmazon = distinct(
    others.flatMap((chunk) => chunk.match(WORD) ?? []).filter((word) => AMAZON.test(word)),
  );
  // One alone among words is no certain number, but beside another one it is another symbol.
  const certain = verified.length + ofAmazon.length > 1 ? [...verified, ...ofAmazon] : verified;
  const digits = digitsIn(read, certain);
  if (certain.length === 0) return distinct(digits);
  const long = (read.match(WORD) ?? []).filter(
    (word) => word.length >= MIN_BESIDE_LETTERS && isOfDigits(word, read),
  );
  return long.every((word) => digits.includes(word)) ? distinct([...certain, ...long]) : [];
}

/**
 * Returns the two numbers of a word in which both have letters, and a right check digit or Amazon's form. Undefined for every other word,
 * and for one that is a number as a whole.
 */
export function joinedIn(word: string): [string, string] | undefined {
  if (word.length < MIN_JOINED || !/[A-Z]/i.test(word)) return undefined;
  if (findCandidates(word.toUpperCase()).length > 0) return undefined;
  for (let at = MIN_IN_LIST; at <= word.length - MIN_IN_LIST; at += 1) {
    const [first, second] = [word.slice(0, at), word.slice(at)];
    if (isDistinct(first) && isDistinct(second) && first.toUpperCase() !== second.toUpperCase())
      return [first, second];
  }
  return undefined;
}

const isDistinct = (word: string): boolean => AMAZON.test(word) || isLettered(word);

/** Returns the numbers with letters in a text without spaces: undefined for one whose piece is not behind it. */
function letteredIn(joined: string): (string | undefined)[] {
  const parts = joined.split(JOINT).filter((part) => part !== '');
  const numbers = parts.filter(isLettered);
  if (numbers.length === 0) return [];
  if (HAS_JOINT_AT_END.test(joined)) return [undefined];
  if (parts.every(isDistinct)) return parts;
  return numbers.length === 1 && numbers[0] === parts[0] ? [joined] : [undefined];
}

/** Returns the numbers of digits, if nothing but words and numbers is beside them: a further digit or letter may tell parcels apart. */
function digitsIn(read: string, lettered: string[]): string[] {
  const parts = read.split(APART).filter((part) => part !== '');
  const numbers = parts.filter((part) => isOfDigits(part, read));
  const others = parts.filter((part) => !numbers.includes(part) && !NAME.test(part));
  return others.every((part) => lettered.includes(part.replace(/[.,;]$/, ''))) ? numbers : [];
}

const isLettered = (word: string): boolean =>
  word.length >= MIN_IN_LIST && !OF_DIGITS.test(word) && isVerified(word);

const isOfDigits = (word: string, read: string): boolean => OF_DIGITS.test(word) && isAmongWords(word, read);

/** Whether a number in a read has a right check digit, and enough characters to be taken out of words. */
const isAmongWords = (number: string, read: string): boolean =>
  number.length >= MIN_AMONG_WORDS &&
  (isVerified(number) || (FEDEX_14.test(number) && FEDEX.test(read) && hasFedexCheckDigit(number)));

const isVerified = (number: string): boolean =>
  findCandidates(number.toUpperCase()).some(({ check }) => check === 'valid');

const compact = (text: string): string => text.replace(/\s/g, '');

const distinct = (numbers: readonly string[]): string[] => [
  ...new Map(numbers.map((number) => [number.toUpperCase(), number])).values(),
];
