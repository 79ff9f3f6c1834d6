import { go } from './go/language.js';
import { java } from './java/language.js';
import type { Language } from './language.js';
import { php } from './php/language.js';
import { python } from './python/language.js';
import { typescript } from './typescript/language.js';

const LANGUAGES: Language[] = [typescript, php, python, go, java];

/** Returns the languages with these names, or all. @throws Error for a name that is no language */
export function chooseLanguages(names: string[]): Language[] {
  const unknown = names.filter((name) => !LANGUAGES.some((language) => hasName(language, name)));
  if (unknown.length > 0) {
    const known = LANGUAGES.map(({ name }) => name).join(', ');
    throw new Error(`${unknown.join(', ')} is no SDK. Choose from: ${known}.`);
  }
  return names.length === 0
    ? LANGUAGES
    : LANGUAGES.filter((language) => names.some((name) => hasName(language, name)));
}

const hasName = ({ name, aliases = [] }: Language, given: string) => [name, ...aliases].includes(given);
