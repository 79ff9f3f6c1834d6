// The same code sent several times, because the trigger was held or the label has it twice.

/** A shorter text is not taken for a code that was sent again: 1212 may be a number. */
const MIN_REPEATED = 5;

/** A hyphen is a part of many numbers, so a longer text is needed beside it. */
const MIN_BESIDE_HYPHEN = 7;

/** Two reads have at most quotation marks, a comma, spaces and an AIM identifier between them. */
const MAX_SEPARATOR = 12;

/** Between two reads. */
const SEPARATOR = /^[^\p{L}\p{N}]*$/u;
const AIM_IDENTIFIER = /\][A-Za-z][0-9A-Za-z]/;

/** Returns the shortest text of five characters or more that a text repeats. The time is proportional to the length. */
export function repetitionIn(text: string): string | undefined {
  const borders = bordersOf(text);
  for (let border = borders.at(-1) ?? 0; border > 0; border = borders[border - 1] ?? 0) {
    const period = text.length - border;
    const found = repetitionOf(text, period);
    if (found) return found;
  }
  return undefined;
}

/** Returns what a text repeats that is equal to itself after this many characters. */
function repetitionOf(text: string, period: number): string | undefined {
  const count = Math.ceil(text.length / period);
  const length = text.length - (count - 1) * period;
  if (length < MIN_REPEATED) return undefined;
  const separator = text.slice(length, Math.min(period, length + MAX_SEPARATOR + 1));
  if (separator.includes('-') && length < MIN_BESIDE_HYPHEN) return undefined;
  const isSeparator =
    separator.length <= MAX_SEPARATOR && SEPARATOR.test(separator.replace(AIM_IDENTIFIER, ''));
  return isSeparator ? text.slice(0, length) : undefined;
}

/** Returns for each beginning of a text the length of its longest proper beginning that is also its end. */
function bordersOf(text: string): number[] {
  const borders = [0];
  for (let at = 1, border = 0; at < text.length; at++) {
    while (border > 0 && text[at] !== text[border]) border = borders[border - 1] ?? 0;
    if (text[at] === text[border]) border++;
    borders.push(border);
  }
  return borders;
}

/** Returns one half of a text that consists of two equal halves and white space. */
export function halfOfSpaced(text: string): string | undefined {
  const half = text.slice(0, (text.length - 1) / 2);
  return half !== '' && `${half} ${half}` === text ? half : undefined;
}
