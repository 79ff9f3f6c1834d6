import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { outcomeOf, scan, type } from '../../support/console/browser.js';
import { holdBack } from '../../support/console/hold-back.js';
import { consoleSuite, expectWord } from '../../support/console/suite.js';

// The big word belongs to the parcel on the screen, whenever the answers to others arrive, and a scan is taken whole or not at all.

const { atWork, it, runs, service } = consoleSuite({ worksOffline: true });

async function weigh(page: Page, code: string, weight: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, weight);
  await page.keyboard.press('Enter');
}

const earlierOf = (page: Page) => page.getByTestId('earlier');

it('an answer that comes late stands beside the word of the parcel that is open', async (page) => {
  const release = await holdBack(page, 'api/ScanBatch.php');
  await weigh(page, 'LATEANSWER1', '1.5');
  await expectWord(page, 'SAVED');
  await scan(page, 'LATEANSWER2');
  await expectWord(page, 'UNKNOWN');
  release();
  await earlierOf(page)
    .getByText(/LATEANSWER1 · 1\.50 lb/)
    .waitFor();
  expect(await earlierOf(page).innerText()).toContain('NO OWNER');
  expect(await outcomeOf(page).textContent()).toBe('UNKNOWN');
  await type(page, '2.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  expect(await page.getByTestId('outcome').innerText()).toContain('LATEANSWER2 · 2.50 lb');
});

it('so does an answer that comes after the user has logged in again', async (page) => {
  await page.context().setOffline(true);
  await scan(page, 'LATELOGIN01');
  await expectWord(page, 'WEIGH');
  await type(page, '1.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'SAVED');
  await service().owner.query(
    "update sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1 and ended_at is null",
    [DEMO.users.warehouse],
  );
  await scan(page, 'LATELOGIN02');
  await expectWord(page, 'WEIGH');
  await page.context().setOffline(false);
  const dialog = page.getByRole('dialog', { name: 'Log in again' });
  await dialog.getByLabel('Password').fill(DEMO.password);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await earlierOf(page)
    .getByText(/LATELOGIN01 · 1\.50 lb/)
    .waitFor();
  expect(['WEIGH', 'UNKNOWN']).toContain(await outcomeOf(page).textContent());
  expect(await page.getByText('LATELOGIN02').count()).toBeGreaterThan(0);
});

runs('a scan that begins while the page is loading is discarded whole, and the page says so', async () => {
  // A service worker would answer for the files.
  const page = await atWork({ serviceWorkers: 'block' });
  let release = (): void => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let begin = (): void => undefined;
  const isLoading = new Promise<void>((resolve) => (begin = resolve));
  // The first part of the page names those that it needs itself, and listens when it asks for another one.
  const html = await page.content();
  await page.route('**/console/assets/part-*.js', async (route) => {
    if (!html.includes(route.request().url().split('/').at(-1) ?? '')) {
      begin();
      await isReleased;
    }
    await route.continue();
  });
  await page.reload({ waitUntil: 'commit' });
  await isLoading;
  const code = `TBA478${'0123456789'.repeat(6)}`;
  // Without waiting for each key, because a scanner never pauses for 0.3 s, and a busy machine does.
  const keys = [...code, 'Enter'];
  await Promise.all(keys.slice(0, 20).map((key) => page.keyboard.press(key)));
  release();
  await Promise.all(keys.slice(20).map((key) => page.keyboard.press(key)));
  await expectWord(page, 'SCAN AGAIN');
  await page.getByText('The page was still loading, so a part of the scan is missing.').waitFor();
  expect(await page.getByLabel('Weight (lb)').count()).toBe(0);
  expect(await page.getByLabel('Number', { exact: true }).inputValue()).toBe('');
  // The next scan is taken.
  await scan(page, 'AFTERLOAD01');
  await expectWord(page, 'UNKNOWN');
});
