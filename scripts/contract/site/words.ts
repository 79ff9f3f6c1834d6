// The words around the text of a page, in the languages of the console.

export const LANGUAGES = ['en', 'es'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The part of a page's name in front of that of the English page, by language. */
const PREFIXES: Record<Language, string> = { en: '', es: 'es/' };

/** Returns the language of a page. Pages for developers are English. */
export const languageOf = ({ name }: { name: string }): Language =>
  name.startsWith(PREFIXES.es) ? 'es' : 'en';

/** Returns the name of a page of the user guide. @param page a file in docs/site/guide/<language>/, without `.md` */
export const guideName = (language: Language, page: string): string =>
  `${PREFIXES[language]}guide${page === 'index' ? '' : `/${page}`}`;

/** Whether a page is one of the user guide. The others are for developers. */
export const isGuide = ({ name }: { name: string }): boolean => /^(es\/)?guide(\/|$)/.test(name);

/** Returns the same page of the user guide in another language. */
export const translatedName = (name: string, language: Language): string =>
  PREFIXES[language] + name.slice(PREFIXES[languageOf({ name })].length);

/** HTML in `guide`, `developers` and `reference`: a narrow window hides what is in a span. */
export type Words = {
  readIn: string;
  site: string;
  skip: string;
  sections: string;
  guide: string;
  guideTitle: string;
  developers: string;
  reference: string;
  search: string;
  theme: string;
  menu: string;
  pages: string;
  onThisPage: string;
  neighbours: string;
  previous: string;
  next: string;
  asMarkdown: string;
};

export const WORDS: Record<Language, Words> = {
  en: {
    readIn: 'Read in English',
    site: 'Crossdock documentation',
    skip: 'Skip to the content',
    sections: 'Sections',
    guide: '<span>User </span>guide',
    guideTitle: 'User guide',
    developers: 'Developers',
    reference: 'API<span> reference</span>',
    search: 'Search',
    theme: 'Theme',
    menu: 'Menu',
    pages: 'Pages',
    onThisPage: 'On this page',
    neighbours: 'Previous and next page',
    previous: 'Previous',
    next: 'Next',
    asMarkdown: 'This page as Markdown',
  },
  es: {
    readIn: 'Leer en español',
    site: 'Documentación de Crossdock',
    skip: 'Saltar al contenido',
    sections: 'Secciones',
    guide: 'Guía<span> de uso</span>',
    guideTitle: 'Guía de uso',
    developers: 'Desarrollo',
    reference: '<span>Referencia de la </span>API',
    search: 'Buscar',
    theme: 'Colores',
    menu: 'Menú',
    pages: 'Páginas',
    onThisPage: 'En esta página',
    neighbours: 'Página anterior y siguiente',
    previous: 'Anterior',
    next: 'Siguiente',
    asMarkdown: 'Esta página en Markdown',
  },
};
