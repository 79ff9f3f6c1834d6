import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import { findingsOf, logIn, scan, type } from '../support/console/browser.js';
import { consoleSuite, expectWord } from '../support/console/suite.js';
import { rounds } from '../support/harness/effort.js';

const { atWork, open, runs, service } = consoleSuite();

const noScrollSideways = async (page: Page, width: number) =>
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);

/** Narrow screens shorten the first part of a number, which screen readers then read as a word of its own. */
const spoken = (number: string) => new RegExp(`${number.slice(0, -8)} ?${number.slice(-8)}`);

/** Opens a page with the keyboard. */
const openPage = async (page: Page, digit: number, heading: string) => {
  await page.keyboard.press(`Alt+${digit}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
};

/** Takes a step of a manifest, whose dialog names what it does. */
const confirmStep = async (page: Page, step: string, confirmation: string) => {
  await page.getByRole('button', { name: step, exact: true }).press('Enter');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: confirmation, disabled: false }).press('Enter');
  await dialog.waitFor({ state: 'detached' });
};

/** The numbers of pre-alerts that nobody has received. */
async function announcedNumbers(from: number, count: number): Promise<string[]> {
  const { body } = await service().call('listPrealerts', {
    as: 'iex',
    query: { status: 'pending', limit: 50 },
  });
  return body['data']
    .slice(from, from + count)
    .map(({ tracking_number }: { tracking_number: string }) => tracking_number);
}

const statusesOf = async (numbers: string[]) => {
  const { rows } = await service().owner.query<{ status: string }>(
    'select status from packages where tenant_id = $1 and tracking_number = any($2) order by tracking_number',
    [DEMO.tenants.demo, numbers],
  );
  return rows.map(({ status }) => status);
};

/**
 * By default the day runs in the narrow window, where a page can be too wide; the pages of the warehouse are opened in the wide one below.
 * `npm run test:long` runs the day in both.
 */
const DAYS: [width: number, from: number, hasLabels: boolean][] = [
  [390, 0, true],
  [1280, 3, false],
];

describe('a day at the warehouse, with a scanner and a keyboard only', () => {
  for (const [width, from, hasLabels] of DAYS.slice(0, rounds(1, 2)))
    runs(
      `${width} pixels wide: parcels are received, loaded and shipped, and the courier sees it`,
      async () => {
        const [first = '', second = '', third = ''] = await announcedNumbers(from, 3);
        const page = await atWork({ width, isQuiet: !hasLabels, showsPdf: hasLabels });
        await page.getByRole('heading', { level: 1, name: 'Receive' }).waitFor();

        // A label is printed for the first parcel. That does not depend on the width.
        const label = hasLabels ? page.waitForRequest(/PackageLabel\.php/) : undefined;
        await scan(page, first);
        await expectWord(page, 'WEIGH');
        await type(page, '3.25');
        await page.keyboard.press('Enter');
        await expectWord(page, 'RECEIVED');
        if (label) expect((await label).url()).toContain('format=pdf');

        // The same code at once is one scan; the next parcel saves this one.
        await scan(page, second);
        await expectWord(page, 'WEIGH');
        await scan(page, second);
        await expectWord(page, 'SAME CODE');
        await scan(page, third);
        await expectWord(page, 'TWO NUMBERS');
        await scan(page, second);
        await expectWord(page, 'WEIGH');
        await type(page, '1,5');
        await scan(page, third);
        await expectWord(page, 'WEIGH');
        // The result of the parcel before is readable while the next one is open.
        await page
          .getByTestId('earlier')
          .filter({ hasText: new RegExp(`^✓RECEIVED${second}`) })
          .waitFor();
        await type(page, '2');
        await page.keyboard.press('Enter');
        await expectWord(page, 'RECEIVED');
        // The fields that had the focus contain nothing of the scans.
        expect(await page.locator('#content input').first().inputValue()).toBe('');
        await noScrollSideways(page, width);
        expect(await statusesOf([first, second, third])).toEqual(['received', 'received', 'received']);

        // A manifest with two of them.
        await openPage(page, 4, 'Manifests');
        await page.getByRole('button', { name: 'New manifest' }).press('Enter');
        await page.getByRole('dialog').getByRole('button', { name: 'New manifest' }).press('Enter');
        await page.getByRole('heading', { level: 1, name: /^MAN-/ }).waitFor();
        for (const number of [first, second]) {
          await scan(page, number);
          await page.getByTestId('outcome').filter({ hasText: 'ADDED' }).waitFor();
          await page.getByRole('cell', { name: spoken(number) }).waitFor();
        }
        await noScrollSideways(page, width);
        await confirmStep(page, 'Make ready', 'Make ready (2)');
        await page.getByRole('link', { name: 'Load this flight' }).press('Enter');

        // The load: one parcel of the flight, one that is not on it.
        await page.getByTestId('count-expected').filter({ hasText: '2' }).waitFor();
        await scan(page, first);
        await expectWord(page, 'LOADED');
        await scan(page, third);
        await expectWord(page, 'NOT ON FLIGHT');
        await page.getByTestId('attention').locator('summary').press('Enter');
        await page.getByTestId('attention').getByText(third).first().waitFor();
        await page.getByTestId('count-extra').filter({ hasText: '1' }).waitFor();
        // Taking off is a mode that the person ends, and nobody must look after that parcel any more.
        await page.getByRole('button', { name: 'Take parcels off' }).press('Enter');
        await page.getByTestId('unloading').waitFor();
        await scan(page, third);
        await expectWord(page, 'TAKEN OFF');
        await page.getByRole('button', { name: 'Go on loading' }).press('Enter');
        await page.getByTestId('unloading').waitFor({ state: 'detached' });
        await page.getByTestId('attention').waitFor({ state: 'detached' });
        await scan(page, second);
        await expectWord(page, 'LOADED');
        await page.getByText('Complete. Everything is on').waitFor();
        await noScrollSideways(page, width);

        await page.getByRole('link', { name: 'Manifest', exact: true }).press('Enter');
        await confirmStep(page, 'Ship', 'Ship (2)');
        await page.getByRole('button', { name: 'Complete', exact: true }).waitFor();
        expect((await statusesOf([first, second, third])).sort()).toEqual(['received', 'shipped', 'shipped']);
        await openPage(page, 6, 'Today');
        await page.locator('.figure', { hasText: 'Received today' }).waitFor();
        await noScrollSideways(page, width);
        await page.getByRole('button', { name: /Account/ }).press('Enter');
        await page.getByRole('button', { name: 'Log out' }).press('Enter');

        await logIn(page, 'iex', DEMO.password);
        await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
        await openPage(page, 2, 'My parcels');
        await page.getByLabel('Number, house no., code or name').focus();
        await type(page, first);
        await page.keyboard.press('Enter');
        await page
          .getByRole('row', { name: spoken(first) })
          .getByText('Shipped')
          .waitFor();
        expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
          'Home',
          'My parcels',
          'Unknown',
          'Announce',
          'Customers',
          'Bills',
          'Developers',
          'Team',
          'Profile',
        ]);
        await noScrollSideways(page, width);

        // The courier sets the address of a webhook. The service refuses one that is not https.
        await openPage(page, 7, 'Developers');
        await page.getByRole('link', { name: 'Webhooks', exact: true }).press('Enter');
        await page
          .getByRole('button', { name: /the address Changes of packages/ })
          .first()
          .press('Enter');
        const dialog = page.getByRole('dialog');
        await dialog.getByLabel('Address').fill('http://api.island-express.example/status');
        await page.keyboard.press('Enter');
        await dialog.getByRole('alert').waitFor();
        await dialog.getByLabel('Address').fill(`https://api.island-express.example/status-${width}`);
        await page.keyboard.press('Enter');
        await dialog.waitFor({ state: 'detached' });
        await page.getByText(`https://api.island-express.example/status-${width}`).waitFor();
        await noScrollSideways(page, width);
      },
    );
});

describe('every page', () => {
  const PAGES = {
    warehouse: [
      'receive',
      'load',
      'find',
      'manifests',
      `manifests/${DEMO.manifests.draft}`,
      'flagged',
      'today',
      'putaway',
      'manifests/no-such-manifest',
      'no-such-page',
    ],
    // Its pages in all modes: office/looks.test.ts.
    iex: ['home', 'parcels', 'announce', 'webhooks', 'tokens', 'bills'],
  };

  for (const [user, width, colorScheme, locale] of [
    ['warehouse', 1280, 'light', 'en-US'],
    ['iex', 390, 'dark', 'es-ES'],
  ] as const)
    runs(`of ${user} has no finding of axe (${width} pixels, ${colorScheme}, ${locale})`, async () => {
      const { page } = await open({ width, colorScheme, locale, isQuiet: false });
      const isSpanish = locale === 'es-ES';
      await page.getByLabel(isSpanish ? 'Usuario' : 'User name').waitFor();
      const findings: Record<string, string[]> = { login: await findingsOf(page) };
      await logIn(page, user, DEMO.password);
      await page.locator('.workplace').waitFor();
      await page.locator('main h1').waitFor();
      await page.waitForLoadState('networkidle');
      findings['first'] = await findingsOf(page);
      // The other pages say that the parcel waits.
      if (user === 'warehouse') await scan(page, 'AXE0000001');
      for (const path of PAGES[user]) {
        await page.evaluate(`location.hash = '#/${path}'`);
        await page.locator('main h1').waitFor();
        await page.waitForLoadState('networkidle');
        await noScrollSideways(page, width);
        findings[path] = await findingsOf(page);
      }
      expect(await page.evaluate('document.documentElement.lang')).toBe(isSpanish ? 'es' : 'en');
      expect(findings).toEqual(Object.fromEntries(Object.keys(findings).map((path) => [path, []])));
    });
});
