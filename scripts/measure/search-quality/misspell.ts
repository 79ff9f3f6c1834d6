import type { SeededRandom } from '../../../fixtures/demo/values/seeded-random.js';
import type { Name } from '../rig/names.js';

/** Misspells a name; returns null if this kind does not apply to it. */
export type Misspelling = (name: Name, dice: SeededRandom) => string | null;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

type Edit = (word: string, at: number, dice: SeededRandom) => string;

const edits: Record<'substitution' | 'deletion' | 'insertion' | 'doubling' | 'transposition', Edit> = {
  substitution: (word, at, dice) =>
    word.slice(0, at) + dice.pick([...LETTERS].filter((letter) => letter !== word[at])) + word.slice(at + 1),
  deletion: (word, at) => word.slice(0, at) + word.slice(at + 1),
  insertion: (word, at, dice) => word.slice(0, at) + dice.pick([...LETTERS]) + word.slice(at),
  doubling: (word, at) => word.slice(0, at) + word.slice(at, at + 1) + word.slice(at),
  transposition: (word, at) =>
    word.slice(0, at) + word.slice(at + 1, at + 2) + word.slice(at, at + 1) + word.slice(at + 2),
};

/**
 * Makes one edit in a word of at least four letters, rarely in its first letter, which people usually get
 * right.
 */
function editOnce(text: string, edit: Edit, dice: SeededRandom): string | null {
  const parts = text.split(/([ '-])/);
  const long = parts.flatMap((part, index) => (part.length >= 4 ? [index] : []));
  if (long.length === 0) return null;
  const chosen = dice.pick(long);
  const word = parts[chosen] ?? '';
  for (let attempt = 0; attempt < 8; attempt += 1) {
    const at = dice.whole(dice.whole(1, 10) === 1 ? 0 : 1, word.length - 2);
    const edited = edit(word, at, dice);
    if (edited !== word) return parts.with(chosen, edited).join('');
  }
  return null;
}

const full = ({ first, last }: Name): string => `${first} ${last}`;

const once =
  (edit: Edit): Misspelling =>
  ({ first, last }, dice) => {
    if (dice.whole(0, 1) === 0) {
      const edited = editOnce(first, edit, dice);
      if (edited) return `${edited} ${last}`;
    }
    const edited = editOnce(last, edit, dice);
    return edited && `${first} ${edited}`;
  };

/** Two edits of any kind: both in a name of at least seven letters, or one in each name. */
const twice: Misspelling = ({ first, last }, dice) => {
  const [one, two] = [dice.pick(Object.values(edits)), dice.pick(Object.values(edits))];
  if (last.length >= 7 && dice.whole(0, 1) === 0) {
    const edited = editOnce(last, one, dice);
    const again = edited && editOnce(edited, two, dice);
    return again && again !== last ? `${first} ${again}` : null;
  }
  const [editedFirst, editedLast] = [editOnce(first, one, dice), editOnce(last, two, dice)];
  return editedFirst && editedLast && `${editedFirst} ${editedLast}`;
};

// Different spellings of the same sound.
const SOUNDS: [RegExp, string][] = [
  [/ph/i, 'f'],
  [/f(?!f)/, 'ph'],
  [/^C(?=[aou])/, 'K'],
  [/^K(?=[ae])/, 'C'],
  [/(?<=[a-z])i(?=[a-z])/, 'y'],
  [/(?<=[a-z])y(?=[a-z])/, 'i'],
  [/ck/, 'k'],
  [/ks/, 'x'],
  [/x(?=[a-z])/, 'cks'],
  [/(?<=o)h(?=n)/, ''],
  [/cia/, 'sha'],
  [/sha(?=$)/, 'cia'],
  [/th(?=o)/i, 't'],
  [/ll/, 'l'],
  [/tt/, 't'],
  [/nn/, 'n'],
  [/ie/, 'ee'],
  [/ee/, 'ea'],
  [/ea/, 'ee'],
  [/z(?=[a-z]|$)/, 's'],
  [/(?<=[aeiou])s(?=[aeiou])/, 'z'],
  [/ou/, 'oo'],
  [/au/, 'aw'],
  [/ai/, 'ay'],
  [/son$/, 'sen'],
  [/e$/, ''],
];

const soundAlike: Misspelling = ({ first, last }, dice) => {
  const inLast = dice.whole(0, 2) > 0;
  const name = inLast ? last : first;
  const applicable = SOUNDS.filter(([from]) => from.test(name));
  if (applicable.length === 0) return null;
  const [from, to] = dice.pick(applicable);
  const changed = name.replace(from, to);
  return inLast ? `${first} ${changed}` : `${changed} ${last}`;
};

const bare = (text: string): string => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '');

const unaccented: Misspelling = (name) => {
  const text = bare(full(name));
  return text === full(name) ? null : text;
};

/** Adds an accent to a vowel without one. */
const accented: Misspelling = (name, dice) => {
  const text = full(name);
  const positions = [...text.matchAll(/[aeiou](?![\u0300-\u036f])/g)].map(({ index }) => index);
  if (positions.length === 0) return null;
  const at = dice.pick(positions);
  return (text.slice(0, at + 1) + dice.pick(['\u0301', '\u0300', '\u0302']) + text.slice(at + 1)).normalize(
    'NFC',
  );
};

/** Removes hyphens, apostrophes and spaces inside a name, or replaces a hyphen by a space. */
const unpunctuated: Misspelling = ({ first, last }, dice) => {
  if (!/['\- ]/.test(first + last)) return null;
  const by = dice.pick(['', ' ']);
  return `${first.replace(/[-]/g, by)} ${last.replace(/[- ]/g, by).replace(/'/g, dice.pick(['', '’']))}`.toLowerCase();
};

/** One full name, and the first four or more letters of the other. */
const partial: Misspelling = ({ first, last }, dice) => {
  const cut = (text: string) => (text.length >= 6 ? text.slice(0, dice.whole(4, text.length - 1)) : null);
  if (dice.whole(0, 1) === 0) {
    const prefix = cut(last);
    return prefix && `${first} ${prefix.trimEnd()}`;
  }
  const prefix = cut(first);
  return prefix && `${prefix.trimEnd()} ${last}`;
};

const swapped: Misspelling = ({ first, last }, dice) => dice.pick([`${last} ${first}`, `${last}, ${first}`]);

const swappedAndEdited: Misspelling = (name, dice) =>
  once(dice.pick(Object.values(edits)))({ first: name.last, last: name.first }, dice);

const soundAlikeAndEdited: Misspelling = ({ first, last }, dice) => {
  const edited = editOnce(first, dice.pick(Object.values(edits)), dice);
  const applicable = SOUNDS.filter(([from]) => from.test(last));
  if (!edited || applicable.length === 0) return null;
  const [from, to] = dice.pick(applicable);
  return `${edited} ${last.replace(from, to)}`;
};

const unaccentedAndEdited: Misspelling = (name, dice) => {
  const plain = { first: bare(name.first), last: bare(name.last) };
  return full(plain) === full(name) ? null : once(dice.pick(Object.values(edits)))(plain, dice);
};

/** Both names as one word, with one edit. */
const unspaced: Misspelling = (name, dice) =>
  once(dice.pick(Object.values(edits)))(name, dice)?.replaceAll(' ', '') ?? null;

export const KINDS = {
  substitution: once(edits.substitution),
  deletion: once(edits.deletion),
  insertion: once(edits.insertion),
  doubling: once(edits.doubling),
  transposition: once(edits.transposition),
  'two edits': twice,
  'sound-alike': soundAlike,
  swapped,
  'accents left out': unaccented,
  'accent added': accented,
  'punctuation left out': unpunctuated,
  partial,
  'space left out, edited': unspaced,
  'swapped, edited': swappedAndEdited,
  'sound-alike, edited': soundAlikeAndEdited,
  'accents left out, edited': unaccentedAndEdited,
} satisfies Record<string, Misspelling>;

export type Kind = keyof typeof KINDS;
