import { permute, type Symbol } from './permutation.js';

// A symbol is replaced by another one of its alphabet, so that names stay pronounceable and keep their shape.
const ALPHABETS = [
  '0123456789',
  'aeiou',
  'bcdfghjklmnpqrstvwxyz',
  'áéíóúàèìòùâêîôûäëïöü',
  'ñçãõåøæœßšžłğş',
  'абвгдежзийклмнопрстуфхцчшщъыьэюя',
  'αβγδεζηθικλμνξοπρστυφχψω',
].map((letters) => Array.from(letters));

const PLACES = new Map(
  ALPHABETS.flatMap((alphabet) =>
    alphabet.map((letter, value) => [letter, { alphabet, value, radix: alphabet.length }] as const),
  ),
);

/** CJK ideographs and Hangul: as many letters as a name needs, in consecutive code points. */
const BLOCKS = [
  { from: 0x4e00, radix: 0x9fff - 0x4e00 + 1 },
  { from: 0xac00, radix: 0xd7a3 - 0xac00 + 1 },
];

type Place = Symbol & { toLetter: (value: number) => string };

/**
 * Replaces a word of letters and digits. Upper and lower case stay, and spellings that differ in them have the same
 * replacement. Letters of other scripts become Latin ones.
 */
export function replaceWord(key: string, word: string): string {
  const characters = Array.from(word);
  // The unknown letters are part of the key, because words that differ in them must have different replacements.
  const unknown = characters.filter((character) => placeOf(character) === undefined).join('');
  const places = characters.map((character) => placeOf(character) ?? unknownPlace(character));
  const values = permute(`${key} word ${unknown}`, places);
  return places.map((place, index) => place.toLetter(values[index] ?? 0)).join('');
}

function placeOf(character: string): Place | undefined {
  const lower = character.toLowerCase();
  const place = PLACES.get(lower);
  if (place) return { ...place, toLetter: (value) => inCaseOf(character, place.alphabet[value] ?? '') };
  const point = character.codePointAt(0) ?? 0;
  const block = BLOCKS.find(({ from, radix }) => point >= from && point < from + radix);
  if (!block) return undefined;
  return {
    value: point - block.from,
    radix: block.radix,
    toLetter: (value) => String.fromCodePoint(block.from + value),
  };
}

function unknownPlace(character: string): Place {
  const letters = 'bcdfghjklmnpqrstvwxyz';
  return {
    value: 0,
    radix: letters.length,
    toLetter: (value) => inCaseOf(character, letters.charAt(value)),
  };
}

/** Letters like ß have no single upper-case letter and stay as they are. */
function inCaseOf(character: string, letter: string): string {
  const upper = letter.toUpperCase();
  return character !== character.toLowerCase() && Array.from(upper).length === 1 ? upper : letter;
}
