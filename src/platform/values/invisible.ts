/**
 * Characters that show nothing: the Unicode property Default_Ignorable_Code_Point, which has the zero-width characters, soft
 * hyphens, bidirectional marks, variation selectors and Hangul fillers (also U+3164), and U+2800, the Braille pattern without dots,
 * and the interlinear annotation characters U+FFF9 to U+FFFB.
 * White space is not among them. For the inside of a regular expression with the flag `u`.
 */
const INVISIBLE_CLASS = String.raw`\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb`;

/** For texts that are not ASCII: the classes of Unicode are slow. */
export const INVISIBLE = new RegExp(`[${INVISIBLE_CLASS}]`, 'gu');
const BLANK = new RegExp(`^[\\s${INVISIBLE_CLASS}]*$`, 'u');

export const removeInvisible = (text: string): string => text.replace(INVISIBLE, '');

/** Returns whether a text shows nothing: it has only white space and invisible characters. */
export const isBlank = (text: string): boolean => BLANK.test(text);
