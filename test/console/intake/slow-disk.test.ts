import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { outcomeOf, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { it, service } = consoleSuite();

/** Keeps the queue's database busy until it is released, as a slow disk does. */
const HOLD = `new Promise((resolve) => {
  const opening = indexedDB.open('crossdock-queue');
  opening.onsuccess = () => {
    const [store] = opening.result.objectStoreNames;
    const held = opening.result.transaction([...opening.result.objectStoreNames], 'readwrite').objectStore(store);
    const goOn = () => { if (!globalThis.isReleased) held.count().onsuccess = goOn; };
    goOn();
    resolve();
  };
})`;

const typeNumber = async (page: Page, text: string) => {
  await type(page, text);
  await page.keyboard.press('Enter');
};

it('a number and a weight that are entered while the disk stores the parcel before are a parcel with its weight', async (page) => {
  await scan(page, 'SLOWDISK0001');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await page.evaluate(HOLD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Number').waitFor();
  await typeNumber(page, 'SLOWDISK0002');
  await typeNumber(page, '47');
  await page.evaluate('globalThis.isReleased = true');
  await page.getByText('SLOWDISK0002').first().waitFor();
  await page.locator('[name=weight]').waitFor();
  expect(await page.getByLabel('Weight').inputValue()).toBe('47');
  expect(await outcomeOf(page).textContent()).not.toBe('TWO NUMBERS');
  await page.getByLabel('Weight').focus();
  await page.keyboard.press('Enter');
  await until(async () => (await weightsOf(service(), 'SLOWDISK0002')).length > 0);
  expect([
    await weightsOf(service(), 'SLOWDISK0001'),
    await weightsOf(service(), 'SLOWDISK0002'),
    await weightsOf(service(), '47'),
  ]).toEqual([[4.5], [47], []]);
});

it('a scale that sends while the disk stores the parcel before weighs the parcel that was scanned after it', async (page) => {
  await scan(page, 'SLOWDISK0003');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await page.evaluate(HOLD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Number').waitFor();
  await scan(page, 'SLOWDISK0004');
  await scan(page, '5.75 lb');
  await page.evaluate('globalThis.isReleased = true');
  await page.locator('[name=weight]').waitFor();
  await until(async () => (await page.getByLabel('Weight').inputValue()).startsWith('5.75'));
  expect(await outcomeOf(page).textContent()).not.toBe('SCAN FIRST');
});
