import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GUIDE, guideAddress, LOGIN_GUIDE, OFFICE_GUIDE } from '../../../console/src/guide/sections.js';
import { OFFICE_PAGES } from '../../../console/src/office/pages.js';
import { PAGES } from '../../../console/src/pages.js';
import { startService, type Service } from '../../support/service/service.js';
import { LANGUAGES, type Language } from './console-texts.js';
import { pagesIn } from './sources.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

async function htmlOf(path: string): Promise<string> {
  const { status, bytes } = await service.request('GET', path);
  expect([path, status]).toEqual([path, 200]);
  return bytes.toString();
}

const pathOf = (language: Language, page: string) =>
  guideAddress(page === 'index' ? '' : `/${page}`, language);

/** Each page of the console, and the section that explains it. */
const EXPLAINED: (readonly [page: string, section: string])[] = [
  ['the login', LOGIN_GUIDE],
  ...PAGES.map(({ id }) => [id, GUIDE[id]] as const),
  ...OFFICE_PAGES.map(({ id }) => [`office ${id}`, OFFICE_GUIDE[id]] as const),
];

describe.each(LANGUAGES)('the user guide in %s', (language) => {
  test.each(EXPLAINED)('has a section about %s: %s', async (_page, section) => {
    const [path = '', id] = guideAddress(section, language).split('#');
    expect(await htmlOf(path)).toMatch(new RegExp(`<h[23] id="${id}"`));
  });

  test('states its language, and leads to the same page in the other one', async () => {
    const [other] = LANGUAGES.filter((each) => each !== language);
    for (const page of pagesIn(language)) {
      const html = await htmlOf(pathOf(language, page));
      expect(html).toContain(`<html lang="${language}">`);
      for (const each of LANGUAGES)
        expect(html).toContain(`<link rel="alternate" hreflang="${each}" href="${pathOf(each, page)}">`);
      expect(html).toContain(`<a lang="${other}" hreflang="${other}" href="${pathOf(other ?? 'en', page)}">`);
    }
  });

  test('has every page in its navigation, and none of another language', async () => {
    const html = await htmlOf(pathOf(language, 'index'));
    const [navigation = ''] = /<nav id="navigation"[^]*?<\/nav>/.exec(html) ?? [];
    const links = [...navigation.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect(links.sort()).toEqual(
      pagesIn(language)
        .map((page) => pathOf(language, page))
        .sort(),
    );
  });
});

test('the guide does not show the ids of its sections', async () => {
  for (const path of ['/docs/guide/receiving', '/docs/guide/receiving.md', '/llms-full.txt'])
    expect(await htmlOf(path)).not.toContain('{#');
});
