// What a scanner sends besides the number (docs/site: scanning).

/** Ends one read of a symbol and begins the next: CR, LF, TAB, STX, ETX and other line ends. */
// oxlint-disable-next-line no-control-regex
const READ_ENDS = /[\u0002\u0003\t\n\v\f\r\u0085\u2028\u2029]/;

/** An AIM identifier: `]`, the symbology, a modifier. Not after `^`, because `^]` stands for GS. */
const AIM_IDENTIFIER = /(?<!\^)\][A-Za-z][0-9A-Za-z]/g;

/** GS and FNC1 as scanners spell them where they cannot send the character itself. */
const SPELLED_SEPARATORS = /[<{[(](?:GS|FNC1|0x1D)[>}\])]|\\x1d|\\u001d|%1d|~d029/gi;

/** GS, its neighbours FS, RS and US, and their visible symbols. */
// oxlint-disable-next-line no-control-regex
const ELEMENT_ENDS = /\^\]|[\u001c-\u001f\u241c-\u241f]/;

/** Other control characters, byte order marks and characters without width. */
// oxlint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u0008\u000e-\u001b\u007f-\u009f\u00ad\u200b-\u200f\u2060\ufeff]/g;

/** A control character, white space or a byte order mark: what is removed around a text. */
// oxlint-disable-next-line no-control-regex
const SURROUNDING = /[\u0000-\u0020\u007f-\u00a0\ufeff]/;

/** What some labels and scanners put between the characters of a number. */
const PADDING = /[\s|()]/g;

/** The first and the last character of a Code 39 symbol, and quotation marks. */
const QUOTES = /[*"'`]/;

/**
 * Returns the reads in the text, and the elements of each read. Equal reads are returned once: the trigger was pressed
 * twice.
 */
export function readsIn(scan: string): string[][] {
  const reads = scan
    .replace(SPELLED_SEPARATORS, '\u001d')
    .replace(AIM_IDENTIFIER, '\n')
    .split(READ_ENDS)
    .map((read) => read.split(ELEMENT_ENDS).map(withoutSurroundings).filter(Boolean))
    .filter((elements) => elements.length > 0);
  return [...new Map(reads.map((elements) => [elements.join('\u001d'), elements])).values()];
}

/** Returns the text without an AIM identifier in front and without control characters and white space around it. */
export const plainText = (scan: string): string =>
  withoutSurroundings(withoutSurroundings(scan).replace(/^\][A-Za-z][0-9A-Za-z]/, ''));

const withoutSurroundings = (text: string): string => stripEnds(text, SURROUNDING);

/**
 * Removes the characters of a set from both ends. An expression with `+$` would try each run of them inside the text, in
 * quadratic time.
 */
function stripEnds(text: string, set: RegExp): string {
  let start = 0;
  let end = text.length;
  while (start < end && set.test(text.charAt(start))) start++;
  while (end > start && set.test(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Returns the text without padding, in capital letters, as carriers spell their numbers. */
export const compact = (text: string): string =>
  stripEnds(text.normalize('NFKC').replace(INVISIBLE, ''), QUOTES).replace(PADDING, '').toUpperCase();

/** Returns one half of a text that consists of two equal halves, with or without a space between them. */
export function halfOf(text: string): string | undefined {
  const half = text.slice(0, text.length / 2);
  if (half !== '' && half + half === text) return half;
  const spaced = text.slice(0, (text.length - 1) / 2);
  return spaced !== '' && `${spaced} ${spaced}` === text ? spaced : undefined;
}
