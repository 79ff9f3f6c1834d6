import { afterEach, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { newNumber } from '../../support/builders/parcels.js';
import { findingsOf, logIn, scan, type } from '../../support/console/browser.js';
import { lockNow, unlock } from '../../support/console/locked.js';
import { consoleSuite, expectWord, press } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { atWork, it, open, runs, service } = consoleSuite({ worksOffline: true });

afterEach(() => service().owner.query('delete from parcel_positions'));

async function received(): Promise<string> {
  const number = newNumber();
  await service().call('receivePackage', { as: 'warehouse', body: { tracking_number: number, weight: 2 } });
  return number;
}

/** Where parcels are, by their numbers. */
async function placesOf(...numbers: string[]): Promise<(string | undefined)[]> {
  const { rows } = await service().owner.query<{ scan: string; location: string }>(
    'select scan, location from parcel_positions where scan = any($1)',
    [numbers],
  );
  return numbers.map((number) => rows.find((row) => row.scan === number)?.location);
}

const openPage = async (page: Page) => {
  await page.getByRole('link', { name: 'Put away' }).click();
  await page.getByRole('heading', { level: 1, name: 'Put away' }).waitFor();
};
const chosen = (page: Page) => page.getByTestId('place').locator('strong');

it('a place is scanned, then its parcels, then the next place', async (page) => {
  const [first, second, third] = [await received(), await received(), await received()];
  await openPage(page);
  await scan(page, 'A-12');
  await expectWord(page, 'PLACE');
  expect(await chosen(page).innerText()).toBe('A-12');
  for (const number of [first, second]) {
    await scan(page, number);
    await expectWord(page, 'PLACED');
  }
  await scan(page, 'B-1');
  await expectWord(page, 'PLACE');
  await scan(page, third);
  await expectWord(page, 'PLACED');
  expect(await placesOf(first, second, third)).toEqual(['A-12', 'A-12', 'B-1']);
  // Scanned at another place, a parcel moves, although it is the code that was scanned last.
  await scan(page, 'C-2');
  await scan(page, third);
  await until(async () => (await placesOf(third))[0] === 'C-2');
  await page.getByRole('cell', { name: 'C-2' }).first().waitFor();
  expect(await findingsOf(page)).toEqual([]);
});

it('a number before a place is no place, until the person says so', async (page) => {
  const number = await received();
  await openPage(page);
  await scan(page, number);
  await expectWord(page, 'SCAN THE PLACE');
  expect(await chosen(page).count()).toBe(0);
  expect(await placesOf(number)).toEqual([undefined]);
  await scan(page, '01-02-03-04');
  await page.getByRole('button', { name: 'It is a place' }).click();
  expect(await chosen(page).innerText()).toBe('01-02-03-04');
  await scan(page, number);
  await expectWord(page, 'PLACED');
  await page.getByRole('button', { name: 'Other place' }).click();
  expect(await chosen(page).count()).toBe(0);
  // The service knows it now.
  await page.reload();
  await page.locator('.workplace').waitFor();
  await openPage(page);
  await page.waitForLoadState('networkidle');
  await scan(page, '01-02-03-04');
  await expectWord(page, 'PLACE');
  await type(page, 'x'.repeat(51));
  await press(page, 'Enter');
});

it('without a connection nothing is lost: scans wait on the device, over a reload too', async (page) => {
  const [first, second] = [await received(), await received()];
  await page.evaluate('navigator.serviceWorker.ready');
  await openPage(page);
  await page.context().setOffline(true);
  await scan(page, 'OFF-1');
  await scan(page, first);
  await expectWord(page, 'SAVED');
  expect(await placesOf(first)).toEqual([undefined]);
  await page.reload();
  await page.locator('.workplace').waitFor();
  expect(await chosen(page).innerText()).toBe('OFF-1');
  await scan(page, second);
  // Chromium can let a request of the new page through before it is offline again, so nothing is said of what has not arrived.
  await expectWord(page, 'SAVED|PLACED');
  await page.context().setOffline(false);
  await until(async () => (await placesOf(first, second)).every((place) => place === 'OFF-1'));
});

it('scans of a locked station are kept, and the place is for its user only', async (page) => {
  const number = await received();
  await openPage(page);
  await scan(page, 'LOCK-1');
  await expectWord(page, 'PLACE');
  await lockNow(page);
  await scan(page, number);
  expect(await placesOf(number)).toEqual([undefined]);
  await unlock(page);
  await page.getByText(number).first().waitFor();
  expect(await chosen(page).innerText()).toBe('LOCK-1');
  // Somebody else has chosen no place.
  await page.locator('.account').click();
  await page.getByRole('button', { name: /^Log out$/ }).click();
  await page.locator('.entrance').waitFor();
  await logIn(page, 'manager', DEMO.password);
  await page.locator('.workplace').waitFor();
  await page.goto(`${service().url}/console#/putaway`);
  await page.getByRole('heading', { level: 1, name: 'Put away' }).waitFor();
  expect(await chosen(page).count()).toBe(0);
});

runs('the office lists the places, and a place leads to its parcels', async () => {
  const numbers = [await received(), await received()];
  await service().owner.query(
    `insert into parcel_positions (tenant_id, parcel_key, scan, location)
     select tenant_id, tracking_key, tracking_number, 'Shelf 7' from packages where tracking_number = any($1)`,
    [numbers],
  );
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/places`);
  await page.getByRole('link', { name: 'Shelf 7' }).waitFor();
  await page.getByText(/Packages: 2 · 4\.00 lb · Without a place: \d+/).waitFor();
  await page.getByLabel('Name of the place').fill('nowhere');
  await page.getByText('Nothing matches the search').first().waitFor();
  await page.getByLabel('Name of the place').fill('shelf');
  await page.getByRole('link', { name: 'Shelf 7' }).click();
  await page.getByText(/^Records: 2/).waitFor();
  for (const number of numbers) await page.getByText(number).first().waitFor();
});

runs('both pages have no finding of axe and do not scroll sideways: narrow, dark, in Spanish', async () => {
  const { page } = await open({ width: 390, colorScheme: 'dark', locale: 'es-ES', isQuiet: false });
  await logIn(page, 'manager', DEMO.password);
  await page.locator('.workplace').waitFor();
  for (const [path, title] of [
    ['/console/places', 'Lugares'],
    ['/console#/putaway', 'Ubicar'],
  ] as const) {
    await page.goto(`${service().url}${path}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await page.waitForLoadState('networkidle');
    expect([path, await findingsOf(page)]).toEqual([path, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  }
});
