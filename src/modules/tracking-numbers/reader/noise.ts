// What a scanner sends besides the number (docs/site: scanning).

import { INVISIBLE } from '../../../platform/values/invisible.js';
import { NONCHARACTER } from '../../../platform/values/noncharacters.js';
import { numbersAmongWords } from './in-words.js';

/** Ends one read of a symbol and begins the next: CR, LF, TAB, STX, ETX and other line ends. */
// oxlint-disable-next-line no-control-regex
const READ_ENDS = /[\u0002\u0003\t\n\v\f\r\u0085\u2028\u2029]/;

/** An AIM identifier: `]`, the symbology, a modifier. */
const AIM_IDENTIFIERS = /\][A-Za-z][0-9A-Za-z]/g;
// oxlint-disable-next-line no-control-regex
const AIM_BEFORE_FNC1 = /\][A-Za-z][0-9A-Za-z](?=\u001d)/g;
const AIM_IN_FRONT = /^\][A-Za-z][0-9A-Za-z]/;

/** GS and FNC1 as scanners spell them where they cannot send the character itself. */
const SPELLED_SEPARATORS = /[<{[(](?:GS|FNC1|0x1D)[>}\])]|\\x1d|\\u001d|%1d|~d?029|&#(?:29|x1d);|\^\]/gi;

/** GS, its neighbours FS, RS and US, and their visible symbols. */
// oxlint-disable-next-line no-control-regex
const ELEMENT_ENDS = /[\u001c-\u001f\u241c-\u241f]/;

/** A control character, white space, or a character without width: what is removed around a text. */
// oxlint-disable-next-line no-control-regex
const SURROUNDING = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\s/;

const CONTROL = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f]|${NONCHARACTER}`);

/** What some labels and scanners put between the characters of a number. */
const PADDING = /[\s|()]/g;

/** Hyphens and dashes that programs put in place of the hyphen. */
const HYPHENS = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g;

/**
 * Around a number: control characters, white space, the asterisks of Code 39, quotation marks, and what separates it from a further
 * number.
 */
const FRAME = /[*"'`,;\u2018\u2019\u201a-\u201f\u2039\u203a\u00ab\u00bb]/;
const BRACKETS: Record<string, string> = { '(': ')', '[': ']', '{': '}', '<': '>' };
const OPENING: Record<string, string> = { ')': '(', ']': '[', '}': '{', '>': '<' };

/** Of ISO/IEC 15434. */
const MATRIX_HEADER = '[)>';

/** What an input method for Chinese or Japanese makes of the keys that a scanner presses. */
const FULL_WIDTH = /[\uff01-\uff5e]/g;
const FULL_WIDTH_OFFSET = 0xfee0;

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** A matrix code on a parcel has about a dozen elements. Each costs time, so further ones are not read. */
const MAX_ELEMENTS = 16;

/** One element of a symbol. */
export type Element = {
  /** Without what is around it, in the spelling that was sent. */
  text: string;
  /** Without padding, in capital letters: equal for all spellings. */
  folded: string;
};

/** The elements that are separated by GS in one symbol. */
export type Read = Element[];

/** Returns the reads in a scan. Equal reads are returned once: the trigger was pressed twice. */
export function readsIn(scan: string): Read[] {
  const reads = new Map<string, Read>();
  for (const sent of splitReads(scan).flatMap(withoutWords).slice(0, MAX_ELEMENTS)) {
    const read = sent
      .split(ELEMENT_ENDS, MAX_ELEMENTS)
      .map(toElement)
      .filter(({ folded }) => folded !== '');
    const content = read.map(({ folded }) => folded).join('\u001d');
    if (content !== '' && !reads.has(content)) reads.set(content, read);
  }
  return [...reads.values()];
}

/** Returns the elements of all symbols in a scan, with the words around their numbers. */
export const elementsIn = (scan: string): Element[] =>
  splitReads(scan)
    .flatMap((read) => read.split(ELEMENT_ENDS))
    .map(toElement)
    .filter(({ folded }) => folded !== '');

/** A scanner that sends AIM identifiers sends one before each symbol. */
function splitReads(scan: string): string[] {
  const text = stripLayers(toHalfWidth(scan).replace(SPELLED_SEPARATORS, '\u001d'), false);
  const marked = AIM_IN_FRONT.test(text)
    ? text.replace(AIM_IDENTIFIERS, '\n')
    : text.replace(AIM_BEFORE_FNC1, '\n');
  return marked.split(READ_ENDS);
}

/** The elements of a matrix code are not words. */
const withoutWords = (read: string): string[] => (ELEMENT_ENDS.test(read) ? [read] : numbersAmongWords(read));

const toHalfWidth = (text: string): string =>
  ASCII.test(text)
    ? text
    : text
        .replace(INVISIBLE, '')
        .replace(FULL_WIDTH, (wide) => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH_OFFSET));

/** Returns whether a text contains a control character that is no separator. */
export const hasControlCharacter = ({ text }: Element): boolean => CONTROL.test(text);

/** Reads a text that has no separators. */
export function toElement(sent: string): Element {
  const text = stripLayers(sent);
  return { text, folded: fold(text) };
}

/** Some characters stand for a sentence, so that 255 of them would have a key that no index of the database can store. */
const MAX_FOLDED = 255;

/** Returns the text without padding, in capital letters, as carriers spell their numbers. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.replace(PADDING, '').toUpperCase();
  // Capital letters can have another composition than small ones.
  const composed = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  const folded = stripLayers(composed.replace(INVISIBLE, '').replace(HYPHENS, '-').replace(PADDING, ''));
  return folded.length > MAX_FOLDED ? text.replace(PADDING, '') : folded;
}

/** Returns the text without an AIM identifier in front and without control characters and white space around it. */
export const plainText = (scan: string): string =>
  strip(strip(scan, SURROUNDING).replace(AIM_IN_FRONT, ''), SURROUNDING);

/**
 * Removes the characters of a set from both ends. An expression with `+$` would try each run of them inside the text, in
 * quadratic time.
 */
function strip(text: string, set: RegExp): string {
  let start = 0;
  let end = text.length;
  while (start < end && set.test(text.charAt(start))) start++;
  while (end > start && set.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Removes what is around a number, in whatever order the layers come. */
function stripLayers(sent: string, removesAim = true): string {
  let text = sent;
  let before;
  do {
    before = text;
    text = withoutBrackets(strip(strip(text, SURROUNDING), FRAME));
    if (removesAim) text = text.replace(AIM_IN_FRONT, '');
  } while (text !== before);
  return text;
}

/** Removes a pair of brackets around a text, and a bracket at its end or beginning whose other one is missing. */
function withoutBrackets(text: string): string {
  if (text.startsWith(MATRIX_HEADER)) return text;
  const [first, last] = [text.charAt(0), text.charAt(text.length - 1)];
  if (text.length > 1 && BRACKETS[first] === last) return text.slice(1, -1);
  if (last in BRACKETS || isAlone(last, text)) return text.slice(0, -1);
  const closing = BRACKETS[first];
  const isStray =
    closing === undefined ? first in OPENING && !AIM_IN_FRONT.test(text) : !text.includes(closing);
  return isStray ? text.slice(1) : text;
}

const isAlone = (closing: string, text: string): boolean => {
  const opening = OPENING[closing];
  return opening !== undefined && !text.includes(opening);
};
