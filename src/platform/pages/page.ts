import type { FileReply } from '../contract/types.js';
import { markup, type Markup } from '../mail/markup.js';
import type { Language, Texts } from './language.js';
import { STYLE, STYLE_SOURCE } from './style.js';

/** A page for people without a credential: one response without a script, a cookie or anything of another host. */
export type Page = {
  language: Language;
  title: string;
  /** Whose page it is. A page about nothing that exists has none. */
  courier?: { name: string; logoPath: string | null } | undefined;
  /** The query with which the address of the page shows it in the other language, or null if there is no such address. */
  otherLanguage: string | null;
  /** How the host's root is reached from the path of the page, for example `../`. A sandbox has a path before that of the page. */
  root: string;
  /** Sections. */
  content: Markup;
};

const POLICY = [
  "default-src 'none'",
  `style-src ${STYLE_SOURCE}`,
  "img-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What the address of the page says must reach nobody else, and no search engine and no cache may keep the page. */
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex, nofollow',
  vary: 'accept, accept-language',
};

export const OTHER: Record<Language, Language> = { en: 'es', es: 'en' };
const NAMES: Texts<string> = { en: 'English', es: 'Español' };
const NONE: Markup = { html: '' };

/** Returns the response with a page. */
export const replyWithPage = (page: Page): { statusCode: 200; file: FileReply<'text/html'> } => ({
  statusCode: 200,
  file: { mediaType: 'text/html', content: Buffer.from(htmlOf(page)), headers: pageHeaders(page.language) },
});

export const pageHeaders = (language: Language): Record<string, string> => ({
  ...HEADERS,
  'content-language': language,
});

// The style and the doctype are ours. Everything else is escaped.
const HEAD: Markup = { html: `<style>${STYLE}</style>` };

export const htmlOf = ({ language, title, courier, otherLanguage, root, content }: Page): string =>
  markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${courier ? `${title} · ${courier.name}` : title}</title>
${HEAD}
</head>
<body>
${courier ? headerOf(courier, root) : NONE}
<main>
${content}
</main>
${otherLanguage === null ? NONE : footerOf(language, otherLanguage)}
</body>
</html>
`.html;

const headerOf = ({ name, logoPath }: NonNullable<Page['courier']>, root: string): Markup =>
  markup`<header>
${logoPath === null ? NONE : markup`<img src="${root}${logoPath}" alt="">`}
<p>${name}</p>
</header>`;

const footerOf = (language: Language, query: string): Markup =>
  markup`<footer><a href="?${query}" lang="${OTHER[language]}" hreflang="${OTHER[language]}">${NAMES[OTHER[language]]}</a></footer>`;
