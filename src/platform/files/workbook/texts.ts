import type { Archive } from './archive.js';
import { MAX_CELL_CHARS, MAX_CELLS, MAX_ESCAPED_CHARS } from './bounds.js';
import { tooLarge } from './problem.js';
import { readXml } from './xml.js';

/** Returns the shared texts of a workbook, each without its formats and its phonetic guides. @throws WorkbookError */
export async function readSharedTexts(archive: Archive, path: string): Promise<string[]> {
  const texts: string[] = [];
  const rich = makeRichText();
  await readXml(archive, path, {
    open({ name }) {
      if (name === 'si') rich.start();
      rich.open(name);
    },
    text: rich.text,
    close(name) {
      rich.close(name);
      if (name !== 'si') return;
      if (texts.length === MAX_CELLS) throw tooLarge('cells');
      texts.push(rich.end());
    },
  });
  return texts;
}

/** Collects the text of `si` and `is`: the elements `t`, but not those of phonetic guides. */
export function makeRichText() {
  let text = '';
  let isText = false;
  let isGuide = false;
  return {
    start: () => {
      text = '';
    },
    open(name: string): void {
      if (name === 'rPh') isGuide = true;
      if (name === 't') isText = true;
    },
    text(part: string): void {
      if (isText && !isGuide) text = joined(text, part);
    },
    close(name: string): void {
      if (name === 'rPh') isGuide = false;
      if (name === 't') isText = false;
    },
    end: (): string => unescapeText(text),
  };
}

/**
 * Adds a piece of XML to the text of a cell. JavaScript copies nothing until the text is read, so the length is examined before.
 * @throws WorkbookError if the text is too long for a cell
 */
export function joined(text: string, part: string): string {
  if (text.length + part.length > MAX_ESCAPED_CHARS) throw tooLarge('cellText');
  return text + part;
}

/** @throws WorkbookError if the text is too long for a cell */
export function assertFitsCell(text: string): void {
  if (text.length > MAX_CELL_CHARS) throw tooLarge('cellText');
}

/**
 * Characters that XML does not allow are written as _x000D_ (ECMA-376, part 1, 22.9.2.19). The result can have half a surrogate pair.
 * @throws WorkbookError if the result is too long for a cell
 */
export function unescapeText(text: string): string {
  const unescaped = text.includes('_x')
    ? text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    : text;
  assertFitsCell(unescaped);
  return unescaped;
}
