// Control characters and line breaks could start a new header or line. Direction marks could reorder the text around them.
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// The maximum length of a tracking number.
const MAX_CHARACTERS = 255;

/** Converts untrusted text to one line for a mail: no control characters, at most 255 characters. */
export function oneLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROL_CHARACTERS, ' ').replace(DIRECTION_MARKS, '').trim();
  const characters = Array.from(line);
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…` : line;
}
