import contentType from 'content-type';

export type MediaType = {
  /** The type without parameters, in lower case. */
  type: string;
  /** In lower case. */
  charset: string | undefined;
  /** The header in its canonical spelling. */
  header: string;
};

// content-type 1.0.5 differs from RFC 9110, 5.6.6, which also allows tabs around semicolons, and empty parameters.
const TAB = /\t/g;
const EMPTY_PARAMETER = /("(?:[^"\\]|\\.)*")|; *(?=;|$)/g;
// It also accepts spaces around the equals sign, which RFC 9110 does not.
const SPACED_VALUE = /^[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*(?: =|= )/;

/** Parses a Content-Type header (RFC 9110, 8.3.1). Returns undefined for a malformed one. */
export function parseMediaType(sent: string): MediaType | undefined {
  const plain = sent.replace(TAB, ' ').replace(EMPTY_PARAMETER, (_match, quoted?: string) => quoted ?? '');
  if (SPACED_VALUE.test(plain)) return undefined;
  try {
    const parsed = contentType.parse(plain.trimEnd());
    const { type, parameters } = parsed;
    return { type, charset: parameters['charset']?.toLowerCase(), header: contentType.format(parsed) };
  } catch {
    return undefined;
  }
}

/** Returns a Content-Type header without parameters, or an empty text for none. */
export const typeIn = (header: string | undefined): string => (header && parseMediaType(header)?.type) || '';
