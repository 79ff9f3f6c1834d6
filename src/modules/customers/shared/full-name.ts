/** Splits a full name at its last space. A name of one word has no first name. */
export function splitFullName(whole: string): [given: string, family: string] {
  const text = whole.trim();
  const family = text.search(/\s\S*$/) + 1;
  return [text.slice(0, family).trim(), text.slice(family)];
}

/**
 * Returns the first and the last name of a record with a full name and perhaps one of them. The other one is the rest of the full name, or
 * all of it, if a list calls the last name `name`.
 */
export function completeNames(
  whole: string,
  first: string | undefined,
  last: string | undefined,
): [given: string, family: string] {
  if (first !== undefined) return [first, last ?? withoutStart(whole, first)];
  if (last !== undefined) return [withoutEnd(whole, last), last];
  return splitFullName(whole);
}

function withoutStart(whole: string, first: string): string {
  const start = `${first} `;
  return isSame(whole.slice(0, start.length), start) ? whole.slice(start.length).trim() : whole;
}

function withoutEnd(whole: string, last: string): string {
  const end = ` ${last}`;
  return isSame(whole.slice(-end.length), end) ? whole.slice(0, -end.length).trim() : whole;
}

const isSame = (text: string, other: string): boolean => text.toLowerCase() === other.toLowerCase();
