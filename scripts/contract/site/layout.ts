import { escape, type Rendered } from './markdown.js';
import { guideName, isGuide, languageOf, LANGUAGES, translatedName, WORDS, type Words } from './words.js';

/** A page of the site. Its name is its path below /docs. */
export type Page = Rendered & { name: string; text: string };
export type Group<Listed = Page> = { title: string; pages: Listed[] };
export type Site = { groups: Group[] };
/** What the head of a document shows. */
type Document = Pick<Page, 'name' | 'title' | 'summary'>;
type Link = Pick<Page, 'name' | 'title'>;

/** Returns the HTML of a task page. */
export function pageHtml(site: Site, page: Page): string {
  const all = site.groups.flatMap(({ pages }) => pages);
  const position = all.findIndex(({ name }) => name === page.name);
  return documentHtml({
    page,
    body: `    <div class="frame">
${navigation(site, page)}
      <main id="content" tabindex="-1">
${isGuide(page) ? otherLanguages(page) : ''}        <article>
${page.html}
        </article>
${position < 0 ? '' : neighbours(all[position - 1], all[position + 1], WORDS[languageOf(page)])}
        <footer>
          <a href="${urlOf(page, 'md')}">${WORDS[languageOf(page)].asMarkdown}</a>
${isGuide(page) ? '' : FOR_PROGRAMS}        </footer>
      </main>
${contents(page)}
    </div>`,
  });
}

const FOR_PROGRAMS = `          <a href="/llms.txt">All pages for language models</a>
          <a href="/llms-full.txt">Everything in one file</a>
          <a href="/openapi.yaml">OpenAPI document</a>
`;

/** Returns the links to the same page in the other languages. Its sections have the same ids. */
const otherLanguages = ({ name }: Pick<Page, 'name'>): string =>
  LANGUAGES.filter((language) => language !== languageOf({ name }))
    .map(
      (language) =>
        `        <p class="languages"><a lang="${language}" hreflang="${language}" href="${urlOf({ name: translatedName(name, language) })}">${WORDS[language].readIn}</a></p>\n`,
    )
    .join('');

/** Returns the HTML of the reference. Its script draws the content from /docs/json. */
export function referenceHtml(page: Document): string {
  return documentHtml({
    page,
    head: `    <link rel="stylesheet" href="/docs/static/reference.css">
    <script src="/docs/static/scalar.js" defer></script>
    <script src="/docs/static/reference.js" type="module"></script>`,
    // The component has its own main element and headline.
    body: `    <div id="content" tabindex="-1">
      <noscript><p>The reference needs JavaScript. <a href="/docs/operations">Read the page of each operation</a> or <a href="/docs/reference.md">all of it as Markdown</a> instead.</p></noscript>
      <div id="reference"></div>
    </div>`,
  });
}

function documentHtml({ page, head = '', body }: { page: Document; head?: string; body: string }): string {
  const language = languageOf(page);
  const { site, skip } = WORDS[language];
  const title = page.name === 'index' ? site : `${page.title} - ${site}`;
  return `<!DOCTYPE html>
<html lang="${language}">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escape(title)}</title>
    <meta name="description" content="${escape(page.summary)}">
    <meta name="color-scheme" content="light dark">
    <link rel="icon" type="image/svg+xml" href="/docs/static/favicon.svg">
    <link rel="alternate" type="text/markdown" href="${urlOf(page, 'md')}" title="${WORDS[language].asMarkdown}">
${isGuide(page) ? alternates(page) : ''}    <link rel="alternate" type="application/atom+xml" href="/docs/changelog.atom" title="Changelog">
    <link rel="preload" as="font" type="font/woff2" href="/docs/static/inter.woff2" crossorigin>
    <link rel="stylesheet" href="/docs/static/site.css">
    <script src="/docs/static/site.js"></script>
    <script src="/docs/static/search.js" type="module"></script>
${head}
  </head>
  <body class="${classOf(page)}">
    <a class="skip" href="#content">${skip}</a>
${header(page)}
${body}
  </body>
</html>
`;
}

/** Tells search engines of the same page in each language. */
const alternates = ({ name }: Pick<Page, 'name'>): string =>
  LANGUAGES.map(
    (language) =>
      `    <link rel="alternate" hreflang="${language}" href="${urlOf({ name: translatedName(name, language) })}">\n`,
  ).join('');

function classOf(page: Pick<Page, 'name'>): string {
  if (isGuide(page)) return 'guide';
  return isOperation(page) ? 'operation' : page.name;
}

const isOperation = ({ name }: { name: string }) => name.startsWith('reference/');

function header(page: Document): string {
  const { name } = page;
  const language = languageOf(page);
  const words = WORDS[language];
  const isReference = name === 'reference' || isOperation(page);
  const link = (url: string, text: string, isCurrent: boolean, isTranslated = true) =>
    `<a href="${url}"${isTranslated ? '' : ' hreflang="en"'}${isCurrent ? ' aria-current="true"' : ''}>${text}</a>`;
  const isEnglish = language === 'en';
  return `    <header class="top">
      <a class="brand" href="/docs"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M3 7.5 12 3l9 4.5v9L12 21l-9-4.5z"/><path d="m3 7.5 9 4.5 9-4.5M12 12v9"/></svg>Crossdock<span>Docs</span></a>
      <nav class="sections" aria-label="${words.sections}">
        ${link(urlOf({ name: guideName(language, 'index') }), words.guide, isGuide(page))}
        ${link('/docs', words.developers, !isReference && !isGuide(page), isEnglish)}
        ${link('/docs/reference', words.reference, isReference, isEnglish)}
      </nav>
      <button class="search-button" type="button" aria-keyshortcuts="Control+K Meta+K" aria-haspopup="dialog" aria-label="${words.search}" hidden><svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="10.5" cy="10.5" r="6.5"/><path d="m15.5 15.5 5 5"/></svg><span>${words.search}</span></button>
      <button class="theme" type="button" hidden>${words.theme}</button>
      ${name === 'reference' ? '' : `<button class="menu" type="button" aria-expanded="false" aria-controls="navigation">${words.menu}</button>`}
    </header>`;
}

function navigation({ groups }: Site, page: Page): string {
  const item = ({ name, title }: Link) =>
    `<li><a href="${urlOf({ name })}"${name === page.name ? ' aria-current="page"' : ''}>${escape(title)}</a></li>`;
  const group = ({ title, pages }: Group) =>
    `          <p>${escape(title)}</p>\n          <ul>${pages.map(item).join('')}</ul>`;
  return `      <nav id="navigation" class="pages" aria-label="${WORDS[languageOf(page)].pages}">
${isOperation(page) ? ALL_OPERATIONS : ''}${groups.map(group).join('\n')}
      </nav>`;
}

const ALL_OPERATIONS = `          <ul><li><a href="/docs/operations">All operations</a></li></ul>
`;

/** Returns the table of contents, if the page has enough sections for one. */
function contents({ name, headings }: Page): string {
  const { onThisPage } = WORDS[languageOf({ name })];
  const shown = headings.filter(({ level }) => level === 2);
  if (shown.length < 2) return '';
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escape(text)}</a></li>`).join('');
  return `      <nav class="toc" aria-label="${onThisPage}">
        <p>${onThisPage}</p>
        <ul>${items}</ul>
      </nav>`;
}

function neighbours(previous: Link | undefined, next: Link | undefined, words: Words): string {
  const link = (page: Link | undefined, rel: string, word: string) =>
    page ? `<a rel="${rel}" href="${urlOf(page)}"><span>${word}</span>${escape(page.title)}</a>` : '<i></i>';
  return `        <nav class="neighbours" aria-label="${words.neighbours}">
          ${link(previous, 'prev', words.previous)}
          ${link(next, 'next', words.next)}
        </nav>`;
}

/** Returns the path of a page. @param extension for the page as Markdown */
export function urlOf({ name }: { name: string }, extension?: 'md'): string {
  if (extension) return `/docs/${name}.${extension}`;
  return name === 'index' ? '/docs' : `/docs/${name}`;
}
