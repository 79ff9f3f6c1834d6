// What a scanner sends besides the number (docs/site: scanning).

/** Ends one read of a symbol and begins the next: CR, LF, TAB, STX, ETX and other line ends. */
// oxlint-disable-next-line no-control-regex
const READ_ENDS = /[\u0002\u0003\t\n\v\f\r\u0085\u2028\u2029]/;

/** An AIM identifier: `]`, the symbology, a modifier. */
const AIM_IDENTIFIERS = /\][A-Za-z][0-9A-Za-z]/g;
const AIM_IN_FRONT = /^\][A-Za-z][0-9A-Za-z]/;

/** GS and FNC1 as scanners spell them where they cannot send the character itself. */
const SPELLED_SEPARATORS = /[<{[(](?:GS|FNC1|0x1D)[>}\])]|\\x1d|\\u001d|%1d|~d029|\^\]/gi;

/** GS, its neighbours FS, RS and US, and their visible symbols. */
// oxlint-disable-next-line no-control-regex
const ELEMENT_ENDS = /[\u001c-\u001f\u241c-\u241f]/;

/** Characters without width, and byte order marks. */
const ZERO_WIDTH = /[\u00ad\u200b-\u200f\u2060-\u2064\u202a-\u202e\u2066-\u2069\ufe00-\ufe0f\ufeff]/g;

/** A control character, white space, or a character without width: what is removed around a text. */
// oxlint-disable-next-line no-control-regex
const SURROUNDING = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|\s/;

// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** What some labels and scanners put between the characters of a number. */
const PADDING = /[\s|()]/g;

/** Hyphens and dashes that programs put in place of the hyphen. */
const HYPHENS = /[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g;

/** The first and the last character of a Code 39 symbol, and quotation marks. */
const QUOTES = /[*"'`\u2018\u2019\u201c\u201d]/;

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
  for (const sent of splitReads(scan).slice(0, MAX_ELEMENTS)) {
    const read = sent
      .split(ELEMENT_ENDS, MAX_ELEMENTS)
      .map(toElement)
      .filter(({ folded }) => folded !== '');
    const content = read.map(({ folded }) => folded).join('\u001d');
    if (content !== '' && !reads.has(content)) reads.set(content, read);
  }
  return [...reads.values()];
}

/** A scanner that sends AIM identifiers sends one before each symbol. */
function splitReads(scan: string): string[] {
  const text = strip(toHalfWidth(scan).replace(SPELLED_SEPARATORS, '\u001d'), SURROUNDING);
  const marked = AIM_IN_FRONT.test(text) ? text.replace(AIM_IDENTIFIERS, '\n') : text;
  return marked.split(READ_ENDS).map((read) => strip(read, SURROUNDING).replace(AIM_IN_FRONT, ''));
}

const toHalfWidth = (text: string): string =>
  text
    .replace(ZERO_WIDTH, '')
    .replace(FULL_WIDTH, (wide) => String.fromCharCode(wide.charCodeAt(0) - FULL_WIDTH_OFFSET));

/** Returns whether a text contains a control character that is no separator. */
export const hasControlCharacter = ({ text }: Element): boolean => CONTROL.test(text);

function toElement(sent: string): Element {
  const text = strip(strip(strip(sent, SURROUNDING), QUOTES), SURROUNDING);
  return { text, folded: fold(text) };
}

/** Some characters stand for a sentence, so that 255 of them would have a key that no index of the database can store. */
const MAX_FOLDED = 255;

/** Returns the text without padding, in capital letters, as carriers spell their numbers. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.replace(PADDING, '').toUpperCase();
  // Capital letters can have another composition than small ones.
  const composed = text.normalize('NFKC').toUpperCase().normalize('NFKC');
  const folded = strip(composed.replace(ZERO_WIDTH, '').replace(HYPHENS, '-').replace(PADDING, ''), QUOTES);
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

/** Returns one half of a text that consists of two equal halves, with or without a space between them. */
export function halfOf(text: string): string | undefined {
  const half = text.slice(0, text.length / 2);
  if (half !== '' && half + half === text) return half;
  const spaced = text.slice(0, (text.length - 1) / 2);
  return isSpacedTwice(text) ? spaced : undefined;
}

/** Returns whether a text consists of two equal halves and a space. */
export function isSpacedTwice(text: string): boolean {
  const half = text.slice(0, (text.length - 1) / 2);
  return half !== '' && `${half} ${half}` === text;
}
