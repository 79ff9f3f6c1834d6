import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import { logIn, pressTimed, scan, type, untilLastKey } from '../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press, weightsOf } from '../support/console/suite.js';
import { until } from '../support/service/processes.js';

const { atWork, it, runs, service } = consoleSuite({ worksOffline: true });

const weights = (number: string) => weightsOf(service(), number);

/** Scans a number that no carrier uses, and waits until its weight is asked for. */
async function open(page: Page, code: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
}

const focusedName = (page: Page) => page.evaluate<string>('document.activeElement.name ?? ""');
const hash = (page: Page) => page.evaluate<string>('location.hash');

describe('a parcel in work', () => {
  it('survives another page, a dialog, a click, and a reload, and its field gets the focus back', async (page) => {
    await open(page, 'KEEP000001');
    await type(page, '3');
    await press(page, 'Alt+6');
    await page.getByRole('heading', { level: 1, name: 'Today' }).waitFor();
    await page.getByTestId('waiting-parcel').getByText('KEEP000001').waitFor();
    await press(page, 'Alt+1');
    await page.getByLabel('Weight (lb)').waitFor();
    expect(await focusedName(page)).toBe('weight');
    await type(page, '.');
    await press(page, 'F1');
    await page.getByRole('dialog').waitFor();
    await press(page, 'Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.mouse.click(700, 780);
    await type(page, '2');
    await untilLastKey(page);
    await page.reload();
    await page.getByLabel('Weight (lb)').waitFor();
    await type(page, '5');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
    expect(await weights('KEEP000001')).toEqual([3.25]);
    expect(await hash(page)).toMatch(/^(#\/receive)?$/);
  });

  it('takes digits that are typed without the focus, because no key without Alt opens a page', async (page) => {
    await open(page, 'BLIND00001');
    await page.evaluate('document.activeElement.blur()');
    await type(page, '3.25');
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('3.25');
    for (const key of ['/', '?']) await press(page, key);
    expect(await page.locator('dialog[open]').count()).toBe(0);
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('3.25/?');
  });

  it('is asked about before the user logs out', async (page) => {
    await open(page, 'LEAVE00001');
    await type(page, '2.5');
    await untilLastKey(page);
    const logOut = async () => {
      await page.getByRole('button', { name: /Account/ }).click();
      await page.getByRole('button', { name: 'Log out' }).click();
    };
    await logOut();
    await page.getByRole('button', { name: 'Stay' }).click();
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('2.5');
    await logOut();
    await page.getByRole('button', { name: 'Receive it with 2.5, then log out' }).click();
    await page.getByLabel('User name').waitFor();
    // The scan is stored on the device. It is sent now or at the next login.
    await logIn(page, 'warehouse', DEMO.password);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weights('LEAVE00001')).toEqual([2.5]);
  });

  it('says when it is cancelled that it was not received', async (page) => {
    await open(page, 'CANCEL0001');
    await type(page, '6.6');
    await press(page, 'Escape');
    await expectWord(page, 'CANCELLED');
    expect(await weights('CANCEL0001')).toEqual([]);
    expect(await page.getByText(/put .*aside/i).count()).toBe(0);
  });

  it('can be received and held in one step', async (page) => {
    await open(page, 'HELD000001');
    await type(page, '6.6');
    await page.getByRole('button', { name: 'Receive and hold' }).click();
    await expectWord(page, 'ON HOLD');
    const { rows } = await service().owner.query(
      "select status, weight_lb from packages where tracking_number = 'HELD000001'",
    );
    expect(rows).toEqual([{ status: 'on_hold', weight_lb: '6.600' }]);
  });
});

describe('a weight', () => {
  runs('that is not plausible is stored only after a question, by the limit of the warehouse', async () => {
    await service().call('manageWarehouses', {
      as: 'manager',
      body: { action: 'update', warehouse_id: DEMO.warehouses.primary, weight_question_lb: 100 },
    });
    const page = await atWork();
    await open(page, 'HEAVY00001');
    await type(page, '120');
    await page.keyboard.press('Enter');
    await expectWord(page, 'CHECK WEIGHT');
    // Enter again does not confirm.
    await press(page, 'Enter');
    await page.getByTestId('doubt').getByText('120.00 lb? That is more than 100 lb').waitFor();
    expect(await weights('HEAVY00001')).toEqual([]);
    await press(page, 'Alt+y');
    await expectWord(page, 'NO OWNER');
    expect(await weights('HEAVY00001')).toEqual([120]);
    await page.getByTestId('outcome').getByText('120.00 lb').waitFor();
    await page.getByRole('cell', { name: '120.00 lb' }).waitFor();
  });

  it('is corrected with one key, and the audit log has the change', async (page) => {
    await open(page, 'WRONG00001');
    await type(page, '32.5');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
    await press(page, 'F2');
    await page.getByRole('dialog').getByLabel('Weight (lb)').fill('3.25');
    await press(page, 'Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '3.25 lb' }).waitFor();
    await until(async () => (await weights('WRONG00001'))[0] === 3.25);
    expect(await weights('WRONG00001')).toEqual([3.25]);
  });

  it('of a scale is a weight, and kg are converted', async (page) => {
    await open(page, 'SCALE00001');
    await pressTimed(page, keysAt(4, '5.5 kg', 'Enter'));
    await expectWord(page, 'NO OWNER');
    expect(await weights('SCALE00001')).toEqual([12.125]);
  });

  it('is never a barcode, however slow the scanner is', async (page) => {
    await open(page, 'SLOW000001');
    await pressTimed(page, keysAt(45, '12345', 'Enter'));
    await expectWord(page, 'TWO NUMBERS');
    await page.getByRole('button', { name: 'SLOW000001 is on the scale' }).click();
    await untilLastKey(page);
    await pressTimed(page, keysAt(110, '12345', 'Enter'));
    await expectWord(page, 'CHECK WEIGHT');
    await page.getByRole('button', { name: 'No, it is a barcode' }).click();
    await expectWord(page, 'TWO NUMBERS');
    expect(await weights('SLOW000001')).toEqual([]);
  });
});

describe('without a connection', () => {
  it('a reload opens the console, and the scans that wait and their corrections are sent later', async (page) => {
    await page.evaluate('navigator.serviceWorker.ready');
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Receive' }).waitFor();
    await scan(page, 'OFFLINE001');
    await expectWord(page, 'WEIGH');
    await type(page, '45');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await press(page, 'F2');
    await page.getByRole('dialog').getByLabel('Weight (lb)').fill('4.5');
    await press(page, 'Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('cell', { name: '4.50 lb' }).waitFor();
    await page.context().setOffline(false);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    await until(async () => (await weights('OFFLINE001'))[0] === 4.5);
    expect(await weights('OFFLINE001')).toEqual([4.5]);
    // The answers of the service are never in the cache.
    const cached = await page.evaluate<string[]>(`caches.keys()
      .then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
      .then((lists) => lists.flat().map(({ url }) => new URL(url).pathname))`);
    expect(cached.filter((path) => !/^\/(console|docs\/static\/favicon)/.test(path))).toEqual([]);
  });
});
