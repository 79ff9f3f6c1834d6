import { describe, expect, test } from '@jest/globals';
import { en } from '../../../console/src/texts/en.js';
import { es } from '../../../console/src/texts/es.js';
import { keysOf, LANGUAGES, type Language } from './console-texts.js';
import { pagesIn, sectionsIn, sectionsOf, type Section } from './sources.js';

// The user guide quotes the console in bold, so a button that is renamed must be renamed here too.

const STATION = { en, es };

const unknownIn = (language: Language, sections: Section[]) =>
  sections.flatMap(({ quotations }) => quotations.filter((each) => keysOf(language, each).length === 0));

/** Returns the English quotations of a section without a Spanish one of the same text, and the other way round. */
function unpaired({ quotations: english }: Section, { quotations: spanish }: Section): string[] {
  const left = [...spanish];
  const alone = english.filter((each) => {
    const keys = keysOf('en', each);
    const found = left.findIndex((other) => keysOf('es', other).some((key) => keys.includes(key)));
    if (found < 0) return true;
    left.splice(found, 1);
    return false;
  });
  return [...alone, ...left];
}

describe('what the user guide quotes', () => {
  test.each(LANGUAGES)('is a text of the console, word for word: %s', (language) => {
    const sections = pagesIn(language).flatMap((page) => sectionsOf(language, page));
    expect(sections.flatMap(({ quotations }) => quotations).length).toBeGreaterThan(300);
    expect(unknownIn(language, sections)).toEqual([]);
  });

  test.each(LANGUAGES)('has each of the big words of the station: %s', (language) => {
    const quoted = new Set(
      pagesIn(language).flatMap((page) => sectionsOf(language, page).flatMap(({ quotations }) => quotations)),
    );
    const words = Object.entries(STATION[language]).filter(([key]) => key.startsWith('word.'));
    expect(words.length).toBeGreaterThan(40);
    expect(words.map(([, word]) => word).filter((word) => !quoted.has(word))).toEqual([]);
  });

  test('is the same in both languages, section by section', () => {
    const differences = pagesIn('en').flatMap((page) => {
      const [english, spanish] = [sectionsOf('en', page), sectionsOf('es', page)];
      return english.flatMap((section, index) => {
        const other = spanish[index] ?? { id: 'none', quotations: [] };
        return unpaired(section, other).map((each) => `${page}#${section.id}: ${each}`);
      });
    });
    expect(differences).toEqual([]);
  });

  test('is found if it is wrong, and if only one language has it', () => {
    const [wrong] = sectionsIn('Choose **Receive** or **Recieve**, then **Publish … USD**.');
    expect(wrong && unknownIn('en', [wrong])).toEqual(['Recieve']);
    const [spanish] = sectionsIn('Pulse **Recibir** o **Cancelar**.');
    const [english] = sectionsIn('Choose **Receive** or **Undo**.');
    expect(english && spanish && unpaired(english, spanish)).toEqual(['Undo', 'Cancelar']);
  });
});

describe('the user guide', () => {
  test('has the same pages and sections in both languages, in the same order', () => {
    expect(pagesIn('es')).toEqual(pagesIn('en'));
    const idsIn = (language: Language) =>
      pagesIn(language).map((page) => [page, ...sectionsOf(language, page).map(({ id }) => id)]);
    expect(idsIn('es')).toEqual(idsIn('en'));
  });

  test('names an id for each of its sections, which the console and the other language lead to', () => {
    const nameless = pagesIn('en').filter((page) =>
      sectionsOf('en', page)
        .slice(1)
        .map(({ id }) => id)
        .includes(''),
    );
    expect(nameless).toEqual([]);
  });
});
