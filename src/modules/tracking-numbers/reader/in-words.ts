// Carriers' numbers among words: "UPS 1Z…", a link to the carrier's page, a list.

import { findCandidates } from './candidates.js';
import { repetitionIn } from './repetition.js';

/** A run of letters and digits. */
const WORD = /[0-9A-Za-z]+/g;

/** Fewer characters with a right check digit can be a part of another number by chance. */
const MIN_AMONG_WORDS = 12;
const MIN_IN_LIST = 10;

/** A link has about a dozen words. Each costs time. */
const MAX_WORDS = 32;

/**
 * Returns the numbers of carriers with a right check digit that one read has among other words, or the read itself if it has none or is a
 * number as a whole. Several different ones are separate reads, whatever is between them.
 */
export function numbersAmongWords(read: string): string[] {
  const words = (read.match(WORD) ?? []).slice(0, MAX_WORDS);
  if (words[0]?.length === read.length) return [read];
  const listed = distinct(words).filter((word) => word.length >= MIN_IN_LIST && isVerified(word));
  if (listed.length > 1) return listed;
  // The trigger may have sent the number several times.
  const sent = compact(read);
  const whole = (repetitionIn(sent.toUpperCase()) ?? sent).replace(/[^0-9A-Za-z]/g, '');
  // Also without a check digit: Amazon's letters, a space and its digits.
  if (words.length > 1 && findCandidates(whole.toUpperCase()).length > 0) return [read];
  // A hyphen joins a number with its piece, so that 1Z…-2 is another parcel than 1Z….
  const alone = listed.filter((word) => word.length >= MIN_AMONG_WORDS && isApart(read, word));
  return alone.length > 0 ? alone : [read];
}

const compact = (text: string): string => text.replace(/\s/g, '');

const distinct = (words: readonly string[]): string[] => [
  ...new Map(words.map((word) => [compact(word).toUpperCase(), word])).values(),
];

const isVerified = (number: string): boolean =>
  findCandidates(number.toUpperCase()).some(({ check }) => check === 'valid');

function isApart(read: string, word: string): boolean {
  const at = read.indexOf(word);
  return read.charAt(at - 1) !== '-' && read.charAt(at + word.length) !== '-';
}
