/** Splits a full name at its last space. A name of one word has no first name. */
export function splitFullName(whole: string): [given: string, family: string] {
  const text = whole.trim();
  const family = text.search(/\s\S*$/) + 1;
  return [text.slice(0, family).trim(), text.slice(family)];
}
