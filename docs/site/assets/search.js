// The search in the guides. Its index is a file of this host, and is loaded when somebody searches.
import MiniSearch from '/docs/static/minisearch.js';

const MAX_RESULTS = 12;
/** scripts/contract/site/search.ts has the same fields, and reads words in the same way. */
const OPTIONS = {
  fields: ['section', 'title', 'text'],
  storeFields: ['title', 'section', 'excerpt'],
  processTerm: (word) =>
    word
      .normalize('NFD')
      .replace(/\p{Mark}/gu, '')
      .toLowerCase(),
};
const language = document.documentElement.lang;
const languageOf = (path) => (path.startsWith('/docs/es/') ? 'es' : 'en');
const isGuide = (path) => /^\/docs\/(es\/)?guide\b/.test(path);
const isLike = (one, other) => languageOf(one) === languageOf(other) && isGuide(one) === isGuide(other);
const SEARCH = {
  prefix: true,
  fuzzy: 0.2,
  combineWith: 'AND',
  boost: { section: 4, title: 2 },
  // What is like the open page comes first: its language, and whether it is for users or for developers.
  boostDocument: (path) => (isLike(path, location.pathname) ? 1 : 0.1),
};

const WORDS = {
  en: {
    label: 'Search the documentation',
    field: 'Search',
    hint: 'Type a word, a field or a code.',
    nothing: (text) => `Nothing found for “${text}”.`,
    count: (shown, all) => `${shown} of ${all} results`,
    failed: 'The search could not be loaded. Try again.',
  },
  es: {
    label: 'Buscar en la documentación',
    field: 'Buscar',
    hint: 'Escriba una palabra, un campo o un código.',
    nothing: (text) => `No se encontró nada con «${text}».`,
    count: (shown, all) => `${shown} de ${all} resultados`,
    failed: 'No se pudo cargar la búsqueda. Inténtelo de nuevo.',
  },
}[language];

const button = document.querySelector('.search-button');
const dialog = document.createElement('dialog');
dialog.className = 'search';
dialog.setAttribute('aria-label', WORDS.label);
const input = element('input', {
  type: 'search',
  placeholder: WORDS.field,
  autocomplete: 'off',
  spellcheck: 'false',
});
input.setAttribute('aria-label', WORDS.label);
input.setAttribute('aria-describedby', 'search-status');
const status = element('p', { id: 'search-status' });
status.setAttribute('role', 'status');
const list = element('ol', {});
dialog.append(input, status, list);
document.body.append(dialog);

let index;
/** Loads the index once. A failed attempt is repeated by the next search. */
const loadIndex = async () => {
  index ??= fetch('/docs/search.json').then(async (response) => {
    if (!response.ok) throw new Error(`The index responded with ${response.status}.`);
    return MiniSearch.loadJSON(await response.text(), OPTIONS);
  });
  return index.catch((error) => {
    index = undefined;
    throw error;
  });
};

function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  // The results of the last search stay.
  if (list.children.length === 0) void show();
}

async function show() {
  const text = input.value.trim();
  if (text === '') return fill([], WORDS.hint);
  try {
    const found = (await loadIndex()).search(text, SEARCH);
    // The text may have changed while the index was loaded.
    if (text !== input.value.trim()) return;
    const shown = found.slice(0, MAX_RESULTS);
    fill(shown, found.length === 0 ? WORDS.nothing(text) : WORDS.count(shown.length, found.length));
  } catch {
    fill([], WORDS.failed);
  }
}

function fill(results, message) {
  const wasInList = list.contains(document.activeElement);
  status.textContent = message;
  list.replaceChildren(
    ...results.map(({ id, title, section, excerpt }) => {
      const link = element('a', { href: id, lang: languageOf(id) });
      link.append(element('strong', { textContent: section }));
      if (section !== title) link.append(element('span', { textContent: title }));
      link.append(element('small', { textContent: excerpt }));
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  // The element with the focus was replaced.
  if (wasInList) (list.querySelector('a') ?? input).focus();
}

function element(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

/** Arrows move between the field and the results. Enter in the field opens the first result. */
function move(event) {
  const places = [input, ...list.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    const next = places.indexOf(document.activeElement) + step;
    places[Math.min(Math.max(next, 0), places.length - 1)].focus();
  }
  if (event.key === 'Escape') {
    // The first Escape would only empty the field.
    event.preventDefault();
    dialog.close();
  }
  if (event.key === 'Enter' && document.activeElement === input) places[1]?.click();
}

input.addEventListener('input', () => void show());
dialog.addEventListener('keydown', move);
// A click beside the dialog, or on a result on this page, closes it.
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog || target.closest('a')) dialog.close();
});
button.addEventListener('click', open);
document.addEventListener('keydown', (event) => {
  if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  open();
});
button.hidden = false;
