import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { it } = consoleSuite();

/** A script of the page that runs `change` with each answer, and returns the scans of the answers that the device has. */
const answers = (change = '') => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('crossdock-queue');
  opening.onsuccess = () => {
    const transaction = opening.result.transaction('recent', 'readwrite');
    const store = transaction.objectStore('recent');
    let found = [];
    store.getAll().onsuccess = ({ target }) => {
      found = target.result.map(({ scan }) => scan.request.scan);
      for (const answer of target.result) { ${change} }
    };
    transaction.oncomplete = () => resolve(found);
    transaction.onerror = () => reject(transaction.error);
  };
})`;

const scansIn = (page: Page, change?: string) => page.evaluate<string[]>(answers(change));

const receive = async (page: Page, code: string) => {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await page.keyboard.press('Enter');
  await until(async () => (await scansIn(page)).includes(code));
};

const AGED = (hours: number) =>
  `store.put({ ...answer, at: new Date(Date.now() - ${hours} * 3_600_000).toISOString() });`;

it('keeps answers of the service on the device for a day, and deletes them when a page begins', async (page) => {
  await receive(page, 'OLDANSWER001');
  await scansIn(page, AGED(23));
  await page.reload();
  await page.getByText('OLDANSWER001').first().waitFor();
  expect(await scansIn(page)).toEqual(['OLDANSWER001']);
  await scansIn(page, AGED(25));
  await page.reload();
  await until(async () => (await scansIn(page)).length === 0);
});

it('deletes them with the next answer in a page that stays open', async (page) => {
  await receive(page, 'OLDANSWER002');
  await scansIn(page, AGED(25));
  await page.evaluate("new BroadcastChannel('crossdock-queue').postMessage('changed')");
  await receive(page, 'OLDANSWER003');
  await until(async () => (await scansIn(page)).length === 1);
  expect(await scansIn(page)).toEqual(['OLDANSWER003']);
});
