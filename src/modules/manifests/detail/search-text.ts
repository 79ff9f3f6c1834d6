// People write an air waybill with a hyphen or without, and a flight number with a space or without.
const SEPARATORS = /[-\s]/g;

/** Returns a text without hyphens and spaces. */
export const lettersOf = (q: string): string => q.replace(SEPARATORS, '');

/** Whether the text searches: one of hyphens alone would match every manifest. */
export const hasText = (q: string | undefined): q is string => Boolean(q && lettersOf(q));
