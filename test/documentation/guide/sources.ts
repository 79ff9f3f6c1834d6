import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { projectRoot } from '../../../src/config/project-root.js';
import type { Language } from './console-texts.js';

const markdown = new MarkdownIt();
const folder = (language: Language) => join(projectRoot, 'docs/site/guide', language);

/** The files of a language, without `.md`. */
export const pagesIn = (language: Language): string[] =>
  readdirSync(folder(language)).map((file) => file.replace(/\.md$/, ''));

/** A section, with what it quotes of the console: its texts in bold, in their order. */
export type Section = { id: string; quotations: string[] };

export const sectionsOf = (language: Language, page: string): Section[] =>
  sectionsIn(readFileSync(join(folder(language), `${page}.md`), 'utf8'));

/** Returns the sections of a page. The first is what comes before the first heading with an id. */
export function sectionsIn(text: string): Section[] {
  return text.split(/^(?=##+ )/m).map((part) => ({
    id: /^##+ .+ \{#([a-z-]+)\}$/m.exec(part)?.[1] ?? '',
    quotations: quotationsIn(part),
  }));
}

function quotationsIn(text: string): string[] {
  const found: string[] = [];
  for (const { children } of markdown.parse(text, {})) {
    let quotation: string | undefined;
    for (const { type, content } of children ?? []) {
      if (type === 'strong_open') quotation = '';
      else if (type === 'strong_close' && quotation !== undefined) {
        found.push(quotation);
        quotation = undefined;
      } else if (quotation !== undefined) quotation += content;
    }
  }
  return found;
}
