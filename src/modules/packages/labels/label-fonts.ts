import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';

const require = createRequire(import.meta.url);

// Cached per process: reading a font takes 30 ms, writing a label with a cached font 5 ms.
const fonts = new Map<string, Font>();

function fontOf(file: string): Font {
  const font = fonts.get(file) ?? create(readFileSync(require.resolve(`dejavu-fonts-ttf/ttf/${file}.ttf`)));
  fonts.set(file, font);
  return font;
}

export const regularFont = () => fontOf('DejaVuSansCondensed');
export const boldFont = () => fontOf('DejaVuSansCondensed-Bold');

/** Returns the text with `□` for characters that the font does not contain. */
const replaceMissingGlyphs = (font: Font, text: string): string =>
  Array.from(text, (character) =>
    font.hasGlyphForCodePoint(character.codePointAt(0) ?? 0) ? character : '□',
  ).join('');

export type Fitted = { text: string; size: number };

/**
 * Returns the text in the largest size between the two limits at which it is no wider than `width`. A text
 * that is too wide at the smallest size loses its middle, because numbers differ at their ends.
 */
export function fit(font: Font, text: string, width: number, [largest, smallest]: [number, number]): Fitted {
  const whole = Array.from(replaceMissingGlyphs(font, text));
  // Measured per glyph without kerning. Kerning would take a hundred times as long and only makes the text
  // narrower.
  const widths = whole.map((character) => advanceOf(font, character));
  const total = widths.reduce((sum, each) => sum + each, 0);
  const size = Math.min(largest, width / (total || 1));
  if (size >= smallest) return { text: whole.join(''), size };
  const room = width / smallest - advanceOf(font, '…');
  return { text: withoutMiddle(whole, widths, room), size: smallest };
}

/** Keeps as many characters of both ends as fit, alternating between the ends. */
function withoutMiddle(whole: string[], widths: number[], room: number): string {
  let [head, tail, taken] = [0, whole.length, 0];
  for (;;) {
    const isHeadNext = head <= whole.length - tail;
    const next = widths[isHeadNext ? head : tail - 1] ?? 0;
    if (head >= tail || taken + next > room) break;
    taken += next;
    if (isHeadNext) head += 1;
    else tail -= 1;
  }
  return `${whole.slice(0, head).join('')}…${whole.slice(tail).join('')}`;
}

/** The width of one character at size 1. */
const advanceOf = (font: Font, character: string) =>
  font.glyphForCodePoint(character.codePointAt(0) ?? 0).advanceWidth / font.unitsPerEm;
