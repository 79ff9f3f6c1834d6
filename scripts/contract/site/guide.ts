// The user guide: pages for people who use the console, in each language of the console.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readYaml } from '../document/bundle.js';
import type { Group } from './layout.js';
import { renderPage } from './markdown.js';
import { guideName, LANGUAGES, WORDS, type Language } from './words.js';

/** docs/site/guide/navigation.yaml. */
type Order = { pages: string[] };

/** Returns the pages per language, in the order of the navigation. @throws if a file is missing or not in the navigation */
export async function userGuides(root: string): Promise<Group[]> {
  const { pages } = await readYaml<Order>(root, 'docs/site/guide/navigation.yaml');
  return Promise.all(LANGUAGES.map((language) => guideIn(language, join(root, 'docs/site/guide'), pages)));
}

async function guideIn(language: Language, folder: string, names: string[]): Promise<Group> {
  const files = await readdir(join(folder, language));
  const left = files.filter((file) => !names.includes(file.replace(/\.md$/, '')));
  if (left.length > 0) throw new Error(`guide/navigation.yaml does not name ${language}/${left.join(', ')}.`);
  const pages = names.map(async (name) => {
    const text = await readFile(join(folder, language, `${name}.md`), 'utf8');
    return { name: guideName(language, name), text, ...renderPage(text) };
  });
  return { title: WORDS[language].guideTitle, pages: await Promise.all(pages) };
}
