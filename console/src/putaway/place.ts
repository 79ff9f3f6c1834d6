// Which text is a place, without a page. A barcode of a place has no sign of its own.

/** What the service stores. */
export const LONGEST_PLACE = 50;

/** Numbers of carriers. Most of their characters are digits. */
const NUMBER = { chars: 10, digits: 6 };
const DIGIT = /\d/g;
/** What the labels of this warehouse have: seven digits and capital letters, of those that do not look alike. */
const HOUSE_NUMBER = /^[2-9A-HJKMNP-Z]{7}$/;
/** Names of places without a space or a hyphen are shorter, except for those that look like a house number. */
const SHORTEST_NUMBER = 8;

/** Returns the text of a barcode without what some scanners put around it: the identifier of the symbology, and the signs of Code 39. */
export const placeText = (scan: string): string =>
  scan
    .trim()
    .replace(/^\][A-Za-z]\d/, '')
    .replace(/^\*(.+)\*$/, '$1')
    .trim();

/** Whether the text is the number of a parcel rather than a place. A place of many digits looks the same, so the person decides. */
export const looksLikeNumber = (text: string): boolean =>
  HOUSE_NUMBER.test(text) ||
  (!/\s/.test(text) && text.length >= NUMBER.chars && (text.match(DIGIT)?.length ?? 0) >= NUMBER.digits);

/** Returns the known place that the text means, in its own spelling. A person who types it need not mind upper and lower case. */
export function knownPlace(text: string, known: readonly string[]): string | undefined {
  const wanted = text.toLowerCase();
  return known.find((place) => place === text) ?? known.find((place) => place.toLowerCase() === wanted);
}

/**
 * Says what a scan means. Before a place is chosen, a scan is the place, unless it looks like a number. Afterwards, a known place and a text
 * too short for a number are the next place, and everything else is a parcel.
 *
 * @param chosen the place that is chosen, or undefined
 */
export function meaningOf(
  scan: string,
  chosen: string | undefined,
  known: readonly string[],
): { kind: 'place'; place: string } | { kind: 'parcel' | 'doubt' } {
  const text = placeText(scan);
  const place = knownPlace(text, chosen === undefined ? known : [chosen, ...known]);
  if (place !== undefined) return { kind: 'place', place };
  const mayBeParcel = text.length >= SHORTEST_NUMBER || HOUSE_NUMBER.test(text);
  if (chosen !== undefined && mayBeParcel) return { kind: 'parcel' };
  return looksLikeNumber(text) ? { kind: 'doubt' } : { kind: 'place', place: text };
}
