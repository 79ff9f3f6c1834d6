/** The languages of public pages. The first is that of readers who want neither. */
export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Texts of a page in each language. */
export type Texts<Text> = Record<Language, Text>;

const isLanguage = (text: string): text is Language => LANGUAGES.some((known) => known === text);

/** Longer headers are those of no browser. */
const MAX_HEADER = 1_000;

// Our own: of the libraries for this header, none is a dependency, and two languages need these lines only.
/**
 * Returns the language of a page: the one that its address names, or the best of Accept-Language (RFC 9110, 12.5.4).
 * @param named of the query
 */
export function languageOf(named: string | undefined, acceptLanguage: string | undefined): Language {
  if (named !== undefined && isLanguage(named)) return named;
  const wanted = (acceptLanguage ?? '')
    .slice(0, MAX_HEADER)
    .split(',')
    .map((item) => {
      const [range = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
      const weight = Number(parameters.find((each) => each.startsWith('q='))?.slice(2) ?? '1');
      return { language: range.split('-')[0] ?? '', weight: Number.isNaN(weight) ? 0 : weight };
    })
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ language }) => language);
  return wanted.find(isLanguage) ?? LANGUAGES[0];
}
