import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { guideAddress, GUIDE, LOGIN_GUIDE, OFFICE_GUIDE } from '../../../console/src/guide/sections.js';
import { officePagesOf } from '../../../console/src/office/pages.js';
import { pagesOf } from '../../../console/src/pages.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { type Language } from './console-texts.js';
import { pagesIn } from './sources.js';

const { atWork, it, open, runs, service } = consoleSuite();

const goTo = (page: Page, path: string) => page.goto(service().url + path);

describe('a page of the user guide', () => {
  const WINDOWS = [
    [380, 'light', 'en'],
    [1280, 'dark', 'en'],
    [380, 'dark', 'es'],
    [1280, 'light', 'es'],
  ] as const;
  for (const [width, colorScheme, language] of WINDOWS)
    runs(
      `has no finding of axe, and does not scroll sideways (${width} pixels, ${colorScheme}, ${language})`,
      async () => {
        const { page } = await open({ width, colorScheme });
        const findings: Record<string, string[]> = {};
        for (const name of pagesIn(language)) {
          await goTo(page, guideAddress(name === 'index' ? '' : `/${name}`, language));
          const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
          findings[name] = [...(isWide ? ['scrolls sideways'] : []), ...(await findingsOf(page))];
        }
        expect(findings).toEqual(Object.fromEntries(pagesIn(language).map((name) => [name, []])));
      },
    );

  runs('opens in the other language at the same section', async () => {
    const { page } = await open();
    await goTo(page, '/docs/guide/receiving#offline');
    await page.getByRole('link', { name: 'Leer en español' }).click();
    await page.waitForURL('**/docs/es/guide/receiving#offline');
    await page.getByRole('heading', { name: 'Sin conexión' }).waitFor();
    await page.getByRole('link', { name: 'Read in English' }).click();
    await page.waitForURL('**/docs/guide/receiving#offline');
  });
});

describe('the search', () => {
  const searchFor = async (page: Page, text: string): Promise<string[]> => {
    await page.locator('.search-button:visible').click();
    await page.locator('dialog.search input').fill(text);
    await page.locator('dialog.search li').first().waitFor();
    const links = await page.locator('dialog.search li a').all();
    return Promise.all(links.map(async (link) => String(await link.getAttribute('href'))));
  };

  const CASES: (readonly [Language, string, string])[] = [
    ['en', 'hold label', '/docs/guide/receiving'],
    ['en', 'billing run', '/docs/guide/billing#run'],
    ['es', 'facturacion del mes', '/docs/es/guide/billing#run'],
    ['es', 'sin conexión', '/docs/es/guide/receiving#offline'],
    ['es', 'reclamar', '/docs/es/guide/couriers#claims'],
  ];
  for (const [language, text, expected] of CASES)
    runs(`of the page in ${language} finds “${text}” in the guide of that language first`, async () => {
      const { page } = await open();
      await goTo(page, guideAddress('', language));
      const [first] = await searchFor(page, text);
      expect(first).toContain(expected);
    });

  runs('finds the reference from a Spanish page, and says in Spanish how many', async () => {
    const { page } = await open();
    await goTo(page, '/docs/es/guide');
    expect(await searchFor(page, 'manageCourierBills')).toContain('/docs/reference/manageCourierBills');
    expect(await page.getByRole('status').textContent()).toMatch(/^\d+ de \d+ resultados$/);
    await page.locator('dialog.search input').fill('xyzzy');
    await page.getByText('No se encontró nada con «xyzzy».').waitFor();
  });
});

describe('each page of the console leads to its section of the guide', () => {
  const linkOf = (page: Page) => page.locator('a.guide');
  const NAMES = { en: 'Guide to this page', es: 'Guía de esta página' };
  const expectLink = async (page: Page, section: string, language: Language = 'en') => {
    await page.locator(`a.guide[href="${guideAddress(section, language)}"]`).waitFor();
    expect([await linkOf(page).count(), await linkOf(page).textContent()]).toEqual([
      1,
      `?${NAMES[language]}`,
    ]);
  };

  for (const [user, role] of [
    ['warehouse', 'warehouse'],
    ['iex', 'courier'],
  ] as const)
    it(
      `of ${user}`,
      async (page) => {
        for (const { id } of pagesOf(role)) {
          await goTo(page, `/console#/${id}`);
          await expectLink(page, GUIDE[id]);
        }
      },
      user,
    );

  it(
    'of an administrator in the office',
    async (page) => {
      for (const { id } of officePagesOf('admin')) {
        await goTo(page, `/console/${id}`);
        await expectLink(page, OFFICE_GUIDE[id]);
      }
    },
    'admin',
  );

  runs('in the language of the device, before the login too', async () => {
    for (const [locale, language] of [
      ['en-US', 'en'],
      ['es-DO', 'es'],
    ] as const) {
      const { page } = await open({ locale, isQuiet: false });
      await expectLink(page, LOGIN_GUIDE, language);
    }
  });

  runs('in a new tab, so that the parcel on the scale stays', async () => {
    const page = await atWork();
    const [guide] = await Promise.all([page.waitForEvent('popup'), linkOf(page).click()]);
    await guide.waitForURL('**/docs/guide/receiving#receive');
    await guide.getByRole('heading', { level: 2, name: 'Receive a parcel' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Receive');
  });
});
