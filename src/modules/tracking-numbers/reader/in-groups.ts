// A number that is printed in groups among words: "TRK# 7078 8738 8530".

/** What is between the separators of words. */
const PART = /[^\s#:]+/g;
export const NAME = /^[\p{L}\p{M}]{3,}[.,;]?$/u;
const GROUPS = /^[0-9A-Z]{2,}(?:\s+[0-9A-Z]{2,})+$/i;
const DIGITS = /^\d+$/;

/** Carriers print digits in groups of four. The last group has the rest. Other groups are dates, references and quantities. */
const OF_FOUR = /^(?:\d{4}\s+)+\d{2,4}$/;
const PER_GROUP = 4;

/** How a part is verified: as a number that can stand beside others, or as one among words. */
type Verify = (number: string) => boolean;

/**
 * Returns the groups of the only number among the words of a text, in the spelling that was sent. Undefined unless all of them are one
 * number with a right check digit, and no part of them is one beside a quantity or another number.
 */
export function groupedIn(text: string, isNumber: Verify): string | undefined {
  const parts = [...text.matchAll(PART)].map((match) => ({ text: match[0], at: match.index }));
  const groups = parts.filter((part) => !NAME.test(part.text));
  const [first, last] = [groups.at(0), groups.at(-1)];
  // Without words, the text is a number as a whole.
  if (!first || !last || (first === parts.at(0) && last === parts.at(-1))) return undefined;
  const run = text.slice(first.at, last.at + last.text.length).replace(/[.,;]$/, '');
  return GROUPS.test(run) && isOneNumber(run, isNumber) ? run : undefined;
}

function isOneNumber(run: string, isNumber: Verify): boolean {
  const groups = run.split(/\s+/);
  const joined = groups.join('');
  if (!isNumber(joined)) return false;
  return !DIGITS.test(joined) || (OF_FOUR.test(run) && !isNumberAndMore(groups, isNumber));
}

/** Whether some groups are a number, and the others a quantity or another number. */
function isNumberAndMore(groups: string[], isNumber: Verify): boolean {
  const isMore = (text: string) => text.length <= PER_GROUP || isNumber(text);
  return groups.slice(1).some((_, index) => {
    const [front, back] = [groups.slice(0, index + 1).join(''), groups.slice(index + 1).join('')];
    return (isNumber(front) && isMore(back)) || (isNumber(back) && isMore(front));
  });
}
