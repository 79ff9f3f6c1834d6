import type { Font } from './fonts.js';

// Line breaks and tabs separate words. Other invisible characters could hide text or reverse it.
const BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u;
// Most texts match this; checking it first takes a tenth of the time.
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Returns a text as one printable line. A character that is missing in the font or invisible is shown by its
 * code point, for example `[U+1F4E6]`.
 */
export function printable(text: string, font: Font): string {
  if (PLAIN.test(text)) return text;
  return Array.from(text.replace(BREAKS, ' '), (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    const isShown = font.has(codePoint) && !UNSEEN.test(character);
    return isShown ? character : `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
  }).join('');
}

/**
 * Wraps a text to lines no wider than `widthPt`, between words, or within a word that is wider than a line.
 * Nothing is omitted.
 */
export const wrap = (text: string, font: Font, sizePt: number, widthPt: number): string[] => [
  ...linesOf(text, font, sizePt, widthPt),
];

/** Yields the lines one after the other, so that nothing is measured of those that nobody takes. */
function* linesOf(text: string, font: Font, sizePt: number, widthPt: number): Generator<string, void> {
  const shown = printable(text, font);
  if (font.widthPt(shown, sizePt) <= widthPt) {
    yield shown;
    return;
  }
  let line = '';
  for (const word of shown.split(/ +/)) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (font.widthPt(longer, sizePt) <= widthPt) {
      line = longer;
      continue;
    }
    if (line !== '') yield line;
    line = '';
    for (const piece of piecesOf(word, font, sizePt, widthPt)) {
      if (line !== '') yield line;
      line = piece;
    }
  }
  if (line !== '') yield line;
}

type Space = { font: Font; sizePt: number; widthPt: number; maxLines: number };

/** Wraps a text, and omits what does not fit on `maxLines` lines. */
export function wrapCut(text: string, { font, sizePt, widthPt, maxLines }: Space): string[] {
  const lines: string[] = [];
  for (const line of linesOf(text, font, sizePt, widthPt)) {
    lines.push(line);
    if (lines.length > maxLines) break;
  }
  if (lines.length <= maxLines) return lines;
  const last = lines.slice(maxLines - 1, maxLines + 1).join(' ');
  return [...lines.slice(0, maxLines - 1), cut(last, font, sizePt, widthPt)];
}

/** Yields the pieces of a word that fit. A grapheme cluster and an escaped code point are never split. */
function* piecesOf(word: string, font: Font, sizePt: number, widthPt: number): Generator<string, void> {
  let piece = '';
  for (const character of charactersOf(word)) {
    if (piece !== '' && font.widthPt(piece + character, sizePt) > widthPt) {
      yield piece;
      piece = '';
    }
    piece += character;
  }
  yield piece;
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

function* charactersOf(word: string): Generator<string, void> {
  for (const part of word.split(/(\[U\+[0-9A-F]{4,6}\])/)) {
    if (part.startsWith('[U+')) yield part;
    else for (const { segment } of GRAPHEMES.segment(part)) yield segment;
  }
}

/** Returns as much of the text as fits. Only for texts that are printed in full elsewhere. */
export function cut(text: string, font: Font, sizePt: number, widthPt: number): string {
  const shown = printable(text, font);
  if (font.widthPt(shown, sizePt) <= widthPt) return shown;
  const [first = ''] = piecesOf(shown, font, sizePt, widthPt - font.widthPt('…', sizePt));
  return `${first.trimEnd()}…`;
}
