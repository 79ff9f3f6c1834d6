import { createRequire } from 'node:module';
import MarkdownIt, { type Token } from 'markdown-it';
import anchor from 'markdown-it-anchor';

// Its own types load those of the DOM, which would hide errors in all other files.
const require = createRequire(import.meta.url);
const hljs = require('highlight.js/lib/common') as {
  getLanguage(name: string): unknown;
  highlight(code: string, options: { language: string }): { value: string };
};

/** Returns the id of a heading. Error codes keep their underscores, so that `doc_url` can name them. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '');

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false }).use(anchor, {
  slugify: slugOf,
  permalink: anchor.permalink.headerLink({ safariReaderFix: true }),
});

/** `## A title {#id}` names its id, so that a section has the same address in every language. */
const NAMED = / \{#([a-z-]+)\}$/;

markdown.core.ruler.before('anchor', 'named_heading', ({ tokens }) => {
  for (const [index, token] of tokens.entries()) {
    const last = token.type === 'heading_open' ? tokens[index + 1]?.children?.at(-1) : undefined;
    const [, id] = NAMED.exec(last?.content ?? '') ?? [];
    if (!last || id === undefined) continue;
    token.attrSet('id', id);
    last.content = last.content.replace(NAMED, '');
  }
});
const escape = markdown.utils.escapeHtml;

// Wide tables and code scroll inside their own box. A scrollable box must be reachable with the keyboard.
markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0">\n<table>\n';
markdown.renderer.rules.table_close = () => '</table>\n</div>\n';
markdown.renderer.rules.fence = (tokens, index) => {
  const { info = '', content = '' } = tokens[index] ?? {};
  const [, language = '', label] = /^(\w*)(?: tab=(.+))?$/.exec(info.trim()) ?? [];
  const block = `<pre tabindex="0"><code class="language-${language}">${highlight(content, language)}</code></pre>\n`;
  return label ? `<section class="tab" data-label="${escape(label)}">\n${block}</section>\n` : block;
};

function highlight(code: string, language: string): string {
  if (!hljs.getLanguage(language)) return escape(code);
  return hljs.highlight(code, { language }).value;
}

/** Returns the HTML of a text that is not a page. */
export const renderMarkdown = (text: string): string => markdown.render(text);

export type Heading = { id: string; text: string; level: number };
/** The title is the first heading, the summary the first paragraph. */
export type Rendered = { title: string; summary: string; html: string; headings: Heading[] };

/** Returns the parts of a page. */
export function renderPage(text: string): Rendered {
  const tokens = markdown.parse(text, {});
  const textAfter = (type: string) => tokens[tokens.findIndex((token) => token.type === type) + 1];
  const headings = tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.tag !== 'h1'
      ? [
          {
            id: String(token.attrGet('id')),
            text: plainText(tokens[index + 1]),
            level: Number(token.tag.slice(1)),
          },
        ]
      : [],
  );
  return {
    title: plainText(textAfter('heading_open')),
    summary: plainText(textAfter('paragraph_open')),
    html: markdown.renderer.render(tokens, markdown.options, {}),
    headings,
  };
}

/** Returns the text of an inline token without its markup. */
const plainText = (token: Token | undefined): string =>
  (token?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('')
    .trim();

/** Returns the Markdown as it is published: the label of a tab becomes a line above its code, and headings have no ids. */
export const publishedMarkdown = (text: string): string =>
  text.replace(/^```(\w*) tab=(.+)$/gm, '$2:\n\n```$1').replace(/^(#+ .+) \{#[a-z-]+\}$/gm, '$1');

export { escape };
