// The index of the search in the guides: a file that the browser loads, so that no request leaves it.
import MiniSearch from 'minisearch';
import { urlOf } from './layout.js';

/** docs/site/assets/search.js has the same fields. */
const OPTIONS = { fields: ['section', 'title', 'text'], storeFields: ['title', 'section', 'excerpt'] };
const EXCERPT_CHARACTERS = 120;

/**
 * Returns the index as JSON: an entry per section of a guide, and one per operation.
 *
 * @param {object[]} guides the pages with their text
 * @param {object[]} operations the pages of operations
 */
export function searchIndex(guides, operations) {
  const index = new MiniSearch(OPTIONS);
  index.addAll([...guides.flatMap(sectionsOf), ...operations.map(operationEntry)]);
  return JSON.stringify(index);
}

/** Returns the sections of a page. The first one is what comes before the first heading. */
function sectionsOf(page) {
  const { title, headings, text } = page;
  const parts = text.split(/^(```[^]*?^```)$/m);
  const [first, ...others] = parts
    .flatMap((part, n) => (n % 2 === 0 ? part.split(/^(?=##+ )/m) : [{ code: part }]))
    .reduce(joinCode, []);
  const sections = others.map((part, n) =>
    entryOf(`${urlOf(page)}#${headings[n].id}`, title, headings[n].text, part),
  );
  return [entryOf(urlOf(page), title, title, first), ...sections];
}

/** A `#` in code is not a heading, so code belongs to the part before it. */
function joinCode(parts, part) {
  if (typeof part === 'string' && /^##+ /.test(part)) return [...parts, part];
  const last = parts.at(-1) ?? '';
  return [...parts.slice(0, -1), last + (part.code ?? part)];
}

function operationEntry(page) {
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

function entryOf(id, title, section, written) {
  const text = plain(written);
  return { id, title, section, text, excerpt: text.slice(0, EXCERPT_CHARACTERS) };
}

/** Returns the words of Markdown. */
const plain = (text) =>
  text
    .replace(/^#+ .*$/gm, '')
    .replace(/\]\([^)]*\)/g, ' ')
    .replace(/^```.*$|[`*|[\]]|^> |-{3,}/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();
