// Controls and line ends would begin a header or a line of their own; marks of direction would let a name rearrange
// what stands beside it.
const CONTROL_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

// the longest that a tracking number may be
const MAX_CHARACTERS = 255;

/** Text that somebody gave us, as one line that can stand in a mail: without controls, at most 255 characters. */
export function oneLine(text: string): string {
  const line = text.toWellFormed().replace(CONTROL_CHARACTERS, ' ').replace(DIRECTION_MARKS, '').trim();
  const characters = Array.from(line);
  return characters.length > MAX_CHARACTERS ? `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…` : line;
}
