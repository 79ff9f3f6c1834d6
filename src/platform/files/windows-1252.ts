// Our own: libraries that guess encodings, such as chardet, do not know the code pages that Excel writes for the Macintosh and MS-DOS,
// and would take them for Windows-1252.

/** The characters whose bytes continue a letter of UTF-8. */
const CONTINUATION = '[\\u0080-¿€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]';

/** In these code pages, a letter with an accent has the byte of another character. Each pattern is one that names do not have. */
const SIGNS_OF_ANOTHER_ENCODING = [
  // Bytes that Windows-1252 does not define.
  /[\u0080-\u009f]/,
  // A letter of UTF-8, in a file that is damaged elsewhere.
  new RegExp(`[ÂÃÄÅ]${CONTINUATION}|[à-ï]${CONTINUATION}{2}|[ð-ô]${CONTINUATION}{3}`),
  // A sign right behind a letter, or between two letters.
  /\p{L}[‚ƒ„†‡ˆ‰‹›˜¡¢£¤¥¦§¨¬¯±´¶¸¿×÷]/u,
  /\p{L}[…•–—™©«»®°²³·¹¼½¾]\p{L}/u,
  // O’Neil, Macy’s and don’t have an apostrophe; Garc’a is García from a Macintosh.
  /\p{Ll}’(?![st]\P{L})\p{Ll}/u,
  /\p{Ll}\u00a0\p{Ll}/u,
  // A capital behind a small letter, a small one among capitals.
  /\p{Ll}[ŠŒŽŸ]/u,
  /\p{Lu}[\u00df-\u00ff]\p{Lu}/u,
  /œ(?![eiu])/,
];

/**
 * Returns whether a text that was decoded as Windows-1252 can be one. Every sequence of bytes could be, so the text decides: a wrong
 * letter in a name would be stored in silence.
 */
export const looksLikeWindows1252 = (text: string): boolean =>
  !SIGNS_OF_ANOTHER_ENCODING.some((pattern) => pattern.test(text));
