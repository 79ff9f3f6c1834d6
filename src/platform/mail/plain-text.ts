// Control characters and line breaks could start a new header or line. Direction marks could reorder the text around them.
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// The maximum length of a tracking number.
const MAX_CHARACTERS = 255;

/** Converts untrusted text to one line for a mail: no control characters, at most 255 characters. */
export function oneLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROL_CHARACTERS, ' ').replace(DIRECTION_MARKS, '').trim();
  return shorten(line, MAX_CHARACTERS);
}

/** Returns at most so many characters of a text. The last one shows that it was cut. */
export function shorten(text: string, maxCharacters: number): string {
  const characters = Array.from(text);
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters - 1).join('')}…` : text;
}

/** Mail readers turn domains and URLs into links. A space after the dot or `://` prevents that. */
export const withoutLinks = (text: string): string =>
  text.replaceAll(/[.\u3002\uff0e\uff61](?=\p{L})|(?<=\bwww)\.|:\/\/(?=\S)/giu, '$& ');

const MAX_NAME = 40;
const SHOWN_OF_OTHERS = 12;

/**
 * Converts a name or code that a courier or a user has written to one line for a mail in the name of the warehouse: without links, and
 * cut after 12 characters if it is longer than 40 or if it could hold a telephone number.
 *
 * @param maxDigits of one number, with any separators between its digits
 */
export function shortName(text: string, maxDigits: number): string {
  const line = oneLine(text);
  const number = new RegExp(String.raw`\p{Nd}(?:[\s\p{P}+]*\p{Nd}){${maxDigits},}`, 'u');
  const isShown = shorten(line, MAX_NAME) === line && !number.test(line);
  return withoutLinks(isShown ? line : `${Array.from(line).slice(0, SHOWN_OF_OTHERS).join('')}…`);
}
