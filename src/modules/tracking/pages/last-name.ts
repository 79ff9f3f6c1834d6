/** Letters that have no decomposition. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  æ: 'ae',
  œ: 'oe',
  ı: 'i',
};

/** Words of last names that alone are no name. */
const PARTICLE =
  /^(?:[adeiy]|d[aiou]|das|de|del|den|der|dos|el|jr|l[ae]|las|los|mc|san|santa|sr|st|te[nr]|v[ao]n)$/;

/** Longer names are compared by their first words. */
const MAX_WORDS = 8;

/** Returns the words of a name in small letters without accents. */
function wordsOf(name: string): string[] {
  const folded = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const plain = folded.replace(/[ßøłđðþæœı]/g, (letter) => LETTERS[letter] ?? letter);
  // An apostrophe joins: O'Brien is Obrien.
  return plain
    .replace(/['’ʼ`´]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .slice(0, MAX_WORDS);
}

/**
 * Whether somebody who enters a last name may mean a customer's: it is the whole name, or one or several of its words in their order, without
 * regard to case, accents, spaces and hyphens. A word such as `de` alone is no name.
 */
export function isLastName(entered: string, stored: string): boolean {
  const wanted = wordsOf(entered).join('');
  if (wanted === '') return false;
  const words = wordsOf(stored);
  if (words.join('') === wanted) return true;
  return words.some((_, from) =>
    words.slice(from).some((_last, length) => {
      const part = words.slice(from, from + length + 1);
      return part.join('') === wanted && part.some((word) => word.length > 1 && !PARTICLE.test(word));
    }),
  );
}
