// The index of the search in the guides: a file that the browser loads, so that no request leaves it.
import MiniSearch from 'minisearch';
import { urlOf, type Page } from './layout.js';
import type { OperationPage } from './reference/reference.js';

/** Accents do not count, because people leave them out of a search. */
const withoutAccents = (word: string) =>
  word
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase();

/** docs/site/assets/search.js has the same fields, and reads words in the same way. */
const OPTIONS = {
  fields: ['section', 'title', 'text'],
  storeFields: ['title', 'section', 'excerpt'],
  processTerm: withoutAccents,
};
const EXCERPT_CHARACTERS = 120;

type Entry = { id: string; title: string; section: string; text: string; excerpt: string };

/**
 * Returns the index as JSON: an entry per section of a guide, and one per operation.
 */
export function searchIndex(guides: Page[], operations: (Page & OperationPage)[]): string {
  const index = new MiniSearch<Entry>(OPTIONS);
  index.addAll([...guides.flatMap(sectionsOf), ...operations.map(operationEntry)]);
  return JSON.stringify(index);
}

/** Returns the sections of a page. The first one is what comes before the first heading. */
function sectionsOf(page: Page): Entry[] {
  const { title, headings, text } = page;
  const parts = text.split(/^(```[^]*?^```)$/m);
  const [first = '', ...others] = parts
    .flatMap((part, n): (string | { code: string })[] =>
      n % 2 === 0 ? part.split(/^(?=##+ )/m) : [{ code: part }],
    )
    .reduce<string[]>(joinCode, []);
  const sections = others.map((part, n) => {
    const { id = '', text: section = '' } = headings[n] ?? {};
    return entryOf(`${urlOf(page)}#${id}`, title, section, part);
  });
  return [entryOf(urlOf(page), title, title, first), ...sections];
}

/** A `#` in code is not a heading, so code belongs to the part before it. */
function joinCode(parts: string[], part: string | { code: string }): string[] {
  if (typeof part === 'string' && /^##+ /.test(part)) return [...parts, part];
  const last = parts.at(-1) ?? '';
  return [...parts.slice(0, -1), last + (typeof part === 'string' ? part : part.code)];
}

function operationEntry(page: Page & OperationPage): Entry {
  const { title, text, address } = page;
  const fields = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  const [, description = ''] = text.split('\n\n').slice(1);
  return entryOf(
    urlOf(page),
    'API reference',
    title,
    `${description} ${address} ${page.name} ${fields.join(' ')}`,
  );
}

function entryOf(id: string, title: string, section: string, written: string): Entry {
  const text = plain(written);
  return { id, title, section, text, excerpt: text.slice(0, EXCERPT_CHARACTERS) };
}

/** Returns the words of Markdown. */
const plain = (text: string) =>
  text
    .replace(/^#+ .*$/gm, '')
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/^```.*$|[`*|[\]]|^> |-{3,}/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
