import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  chromiumPath,
  launchChromium,
  logIn,
  openConsole,
  outcomeOf,
  pressTimed,
  scan,
  type,
  untilLastKey,
} from '../support/console/browser.js';
import { titleWith } from '../support/harness/programs.js';
import { until } from '../support/service/processes.js';
import { startService, type Service } from '../support/service/service.js';

const LIMIT_MS = 120_000;
const missing = [chromiumPath ? undefined : 'chromium'];
const runs = chromiumPath ? test : test.skip;
const it = (title: string, body: () => Promise<void>) => runs(titleWith(title, missing), body, LIMIT_MS);

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (!chromiumPath) return;
  service = await startService();
  browser = await launchChromium();
}, LIMIT_MS);

afterAll(async () => {
  if (!chromiumPath) return;
  await browser.close();
  await service.stop();
});

async function atWork(): Promise<Page> {
  const { page } = await openConsole(browser, service.url, { width: 1280, isQuiet: true });
  await logIn(page, 'warehouse', DEMO.password);
  await page.locator('.workplace').waitFor();
  return page;
}

const expectWord = (page: Page, word: string) =>
  outcomeOf(page)
    .filter({ hasText: new RegExp(`^${word}$`) })
    .waitFor();

const press = async (page: Page, key: string) => {
  await untilLastKey(page);
  await page.keyboard.press(key);
};

/** Scans a number that no carrier uses, and waits until its weight is asked for. */
async function open(page: Page, code: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
}

const weightsOf = async (number: string) => {
  const { rows } = await service.owner.query<{ weight: string }>(
    'select weight_lb::text as weight from packages where tenant_id = $1 and tracking_number = $2',
    [DEMO.tenants.demo, number],
  );
  return rows.map(({ weight }) => Number(weight));
};

const focusedName = (page: Page) => page.evaluate<string>('document.activeElement.name ?? ""');
const hash = (page: Page) => page.evaluate<string>('location.hash');

describe('a parcel in work', () => {
  it('survives another page, a dialog, a click, and a reload, and its field gets the focus back', async () => {
    const page = await atWork();
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
    expect(await weightsOf('KEEP000001')).toEqual([3.25]);
    expect(await hash(page)).toMatch(/^(#\/receive)?$/);
    await page.context().close();
  });

  it('takes digits that are typed without the focus, because no key without Alt opens a page', async () => {
    const page = await atWork();
    await open(page, 'BLIND00001');
    await page.evaluate('document.activeElement.blur()');
    await type(page, '3.25');
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('3.25');
    for (const key of ['/', '?']) await press(page, key);
    expect(await page.locator('dialog[open]').count()).toBe(0);
    expect(await page.getByLabel('Weight (lb)').inputValue()).toBe('3.25/?');
    await page.context().close();
  });

  it('is asked about before the user logs out', async () => {
    const page = await atWork();
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
    expect(await weightsOf('LEAVE00001')).toEqual([2.5]);
    await page.context().close();
  });

  it('says when it is cancelled that it was not received', async () => {
    const page = await atWork();
    await open(page, 'CANCEL0001');
    await type(page, '6.6');
    await press(page, 'Escape');
    await expectWord(page, 'CANCELLED');
    expect(await weightsOf('CANCEL0001')).toEqual([]);
    expect(await page.getByText(/put .*aside/i).count()).toBe(0);
    await page.context().close();
  });

  it('can be received and held in one step', async () => {
    const page = await atWork();
    await open(page, 'HELD000001');
    await type(page, '6.6');
    await page.getByRole('button', { name: 'Receive and hold' }).click();
    await expectWord(page, 'ON HOLD');
    const { rows } = await service.owner.query(
      "select status, weight_lb from packages where tracking_number = 'HELD000001'",
    );
    expect(rows).toEqual([{ status: 'on_hold', weight_lb: '6.600' }]);
    await page.context().close();
  });
});

describe('a weight', () => {
  it('that is not plausible is stored only after a question, by the limit of the warehouse', async () => {
    await service.call('manageWarehouses', {
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
    expect(await weightsOf('HEAVY00001')).toEqual([]);
    await press(page, 'Alt+y');
    await expectWord(page, 'NO OWNER');
    expect(await weightsOf('HEAVY00001')).toEqual([120]);
    await page.getByTestId('outcome').getByText('120.00 lb').waitFor();
    await page.getByRole('cell', { name: '120.00 lb' }).waitFor();
    await page.context().close();
  });

  it('is corrected with one key, and the audit log has the change', async () => {
    const page = await atWork();
    await open(page, 'WRONG00001');
    await type(page, '32.5');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
    await press(page, 'F2');
    await page.getByRole('dialog').getByLabel('Weight (lb)').fill('3.25');
    await press(page, 'Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '3.25 lb' }).waitFor();
    await until(async () => (await weightsOf('WRONG00001'))[0] === 3.25);
    expect(await weightsOf('WRONG00001')).toEqual([3.25]);
    await page.context().close();
  });

  it('of a scale is a weight, and kg are converted', async () => {
    const page = await atWork();
    await open(page, 'SCALE00001');
    await pressTimed(
      page,
      [...'5.5 kg', 'Enter'].map((key) => ({ key, gapMs: 4 })),
    );
    await expectWord(page, 'NO OWNER');
    expect(await weightsOf('SCALE00001')).toEqual([12.125]);
    await page.context().close();
  });

  it('is never a barcode, however slow the scanner is', async () => {
    const page = await atWork();
    await open(page, 'SLOW000001');
    await pressTimed(
      page,
      [...'12345', 'Enter'].map((key) => ({ key, gapMs: 45 })),
    );
    await expectWord(page, 'WEIGH FIRST');
    await untilLastKey(page);
    await pressTimed(
      page,
      [...'12345', 'Enter'].map((key) => ({ key, gapMs: 110 })),
    );
    await expectWord(page, 'CHECK WEIGHT');
    await page.getByRole('button', { name: 'No, it is a barcode' }).click();
    await expectWord(page, 'WEIGH FIRST');
    expect(await weightsOf('SLOW000001')).toEqual([]);
    await page.context().close();
  });
});

describe('without a connection', () => {
  it('a reload opens the console, and the scans that wait and their corrections are sent later', async () => {
    const page = await atWork();
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
    await until(async () => (await weightsOf('OFFLINE001'))[0] === 4.5);
    expect(await weightsOf('OFFLINE001')).toEqual([4.5]);
    // The answers of the service are never in the cache.
    const cached = await page.evaluate<string[]>(`caches.keys()
      .then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
      .then((lists) => lists.flat().map(({ url }) => new URL(url).pathname))`);
    expect(cached.filter((path) => !/^\/(console|docs\/static\/favicon)/.test(path))).toEqual([]);
    await page.context().close();
  });
});
