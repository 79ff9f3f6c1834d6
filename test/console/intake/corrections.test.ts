import { describe, expect } from '@jest/globals';
import type { BrowserContext, Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { logIn, outcomeOf, pressTimed, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, keysAt, press, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

// A correction is stored when the service has answered. Until then the page says that it waits.

const suite = consoleSuite({ worksOffline: true });
const { service } = suite;

type Work = { page: Page; context: BrowserContext };

const it = (title: string, body: (work: Work) => Promise<void>) =>
  suite.it(title, async (page) => {
    await page.evaluate('navigator.serviceWorker.ready');
    await body({ page, context: page.context() });
  });

const weights = (number: string) => weightsOf(service(), number);

async function receive(page: Page, code: string, weight: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, weight);
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
}

/** Opens the correction with the key, types a weight, and confirms it. */
async function correct(page: Page, weight: string): Promise<void> {
  await press(page, 'F2');
  await dialogOf(page).waitFor();
  await type(page, weight);
  await page.keyboard.press('Enter');
  await dialogOf(page).waitFor({ state: 'detached' });
}

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Correct a parcel' });
const weightField = (page: Page) => dialogOf(page).getByLabel('Weight (lb)');
const detailOf = (page: Page) => page.getByTestId('outcome').locator('.outcome-detail').innerText();
const queueText = (page: Page) => page.getByTestId('queue').innerText();

const idOf = async (number: string) => {
  const { rows } = await service().owner.query<{ id: string }>(
    'select id from packages where tenant_id = $1 and tracking_number = $2',
    [DEMO.tenants.demo, number],
  );
  return rows[0]?.id ?? '';
};

const auditsOf = async (number: string) => {
  const { rows } = await service().owner.query(
    "select 1 from audit_entries where tenant_id = $1 and action = 'package.updated' and entity_id = $2",
    [DEMO.tenants.demo, await idOf(number)],
  );
  return rows.length;
};

const rowOf = (page: Page, code: string) => page.getByRole('row').filter({ hasText: code });

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('User name').waitFor();
}

describe('a correction that was made without a connection', () => {
  it('waits: the page never says that it is stored, counts it, and names it at the log-out and the login', async ({
    page,
    context,
  }) => {
    await receive(page, 'OFFCORR001', '1.1');
    await context.setOffline(true);
    await correct(page, '8.8');
    await expectWord(page, 'SAVED');
    expect(await detailOf(page)).toContain('the correction waits to be sent');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    expect(await rowOf(page, 'OFFCORR001').innerText()).toMatch(/1\.10 lb → 8\.80 lb\s+Waits/);
    await page.getByTestId('queue').click();
    await page.getByRole('dialog').getByText('Correction to 8.80 lb').waitFor();
    await page.keyboard.press('Escape');
    await press(page, 'F2');
    expect(await dialogOf(page).innerText()).toContain(
      'Stored with 1.10 lb. The change is recorded in the audit log. A correction to 8.80 lb waits on this device.',
    );
    await press(page, 'Escape');
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByText('Scans and corrections waiting: 1. They stay on this device').waitFor();
    await page.keyboard.press('Escape');
    await logOut(page);
    await page
      .getByTestId('waiting-here')
      .getByText(/Scans and corrections of Demo Warehouse .*: 1\./)
      .waitFor();
    expect(await weights('OFFCORR001')).toEqual([1.1]);
    await context.setOffline(false);
    await logIn(page, 'manager', DEMO.password);
    await page.getByText(/Scans and corrections of Demo Warehouse wait on this device: 1\./).waitFor();
    expect(await weights('OFFCORR001')).toEqual([1.1]);
    await logOut(page);
    await logIn(page, 'warehouse', DEMO.password);
    await until(async () => (await weights('OFFCORR001'))[0] === 8.8);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    await rowOf(page, 'OFFCORR001')
      .getByText(/^8\.80 lb$/)
      .waitFor();
  });

  it('of a scan that waits too says that nothing is stored yet', async ({ page, context }) => {
    await context.setOffline(true);
    await scan(page, 'OFFCORR002');
    await expectWord(page, 'WEIGH');
    await type(page, '21');
    await page.keyboard.press('Enter');
    await expectWord(page, 'SAVED');
    await press(page, 'F2');
    const text = await dialogOf(page).innerText();
    expect(text).toContain('It waits on this device with 21.00 lb. Nothing is stored at the service yet.');
    expect(text).not.toContain('Stored with');
    await type(page, '12');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('2 waiting').waitFor();
    await context.setOffline(false);
    await until(async () => (await weights('OFFCORR002'))[0] === 12);
  });
});

describe('a correction', () => {
  it('of a parcel before leaves the big word to the one on the scale', async ({ page }) => {
    await receive(page, 'CORRECTOLD001', '3.3');
    await scan(page, 'CORRECTNEW001');
    await expectWord(page, 'UNKNOWN');
    await correct(page, '4.4');
    await page.getByTestId('earlier').getByText('CORRECTED').waitFor();
    await expectWord(page, 'UNKNOWN');
    expect(await weights('CORRECTOLD001')).toEqual([4.4]);
  });

  it('says CORRECTED after the answer of the service, and not before', async ({ page }) => {
    await receive(page, 'ANSWER0001', '1.1');
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/api/UpdatePackage.php', async (route) => {
      await isAsked;
      await route.continue();
    });
    await correct(page, '2.2');
    await expectWord(page, 'SAVED');
    expect(await queueText(page)).toContain('1 waiting');
    answer();
    await expectWord(page, 'CORRECTED');
    expect(await weights('ANSWER0001')).toEqual([2.2]);
  });

  it('that is made while the one before is being sent is not lost', async ({ page }) => {
    await receive(page, 'TWICE00001', '1.1');
    let answer = (): void => undefined;
    const isAsked = new Promise<void>((resolve) => (answer = resolve));
    await page.route(
      '**/api/UpdatePackage.php',
      async (route) => {
        await isAsked;
        await route.continue();
      },
      { times: 1 },
    );
    await correct(page, '2.2');
    await correct(page, '3.3');
    answer();
    await until(async () => (await weights('TWICE00001'))[0] === 3.3);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weights('TWICE00001')).toEqual([3.3]);
    await rowOf(page, 'TWICE00001')
      .getByText(/^3\.30 lb$/)
      .waitFor();
  });

  it('begins with the present weight, also if somebody else has corrected it, and unchanged it sends nothing', async ({
    page,
  }) => {
    await receive(page, 'AGAIN00001', '5');
    await correct(page, '9.5');
    await expectWord(page, 'CORRECTED');
    await press(page, 'F2');
    expect(await dialogOf(page).innerText()).toContain('Stored with 9.50 lb.');
    expect(await weightField(page).inputValue()).toBe('9.5');
    await press(page, 'Enter');
    await expectWord(page, 'NOT CHANGED');
    expect(await auditsOf('AGAIN00001')).toBe(1);
    const body = { package_id: await idOf('AGAIN00001'), weight: 7.25 };
    expect((await service().call('updatePackage', { as: 'manager', body })).status).toBe(200);
    await press(page, 'F2');
    await dialogOf(page).getByText('Stored with 7.25 lb.').waitFor();
    expect(await weightField(page).inputValue()).toBe('7.25');
    await press(page, 'Enter');
    await expectWord(page, 'NOT CHANGED');
    expect(await weights('AGAIN00001')).toEqual([7.25]);
    expect(await auditsOf('AGAIN00001')).toBe(2);
  });

  it('replaces the weight that stands in the field', async ({ page }) => {
    await receive(page, 'SELECT0001', '5');
    await correct(page, '6');
    await expectWord(page, 'CORRECTED');
    expect(await weights('SELECT0001')).toEqual([6]);
  });

  it('takes the weight of the scale', async ({ page }) => {
    await receive(page, 'SCALED0001', '14.2');
    await press(page, 'F2');
    await dialogOf(page).waitFor();
    await pressTimed(page, keysAt(4, '1.42 lb'));
    await until(async () => (await weightField(page).inputValue()) === '1.42 lb');
    expect(await outcomeOf(page).textContent()).toBe('NO OWNER');
    await press(page, 'Enter');
    await expectWord(page, 'CORRECTED');
    expect(await weights('SCALED0001')).toEqual([1.42]);
    await press(page, 'F2');
    await dialogOf(page).waitFor();
    await pressTimed(page, keysAt(4, '2.42 lb', 'Enter'));
    await expectWord(page, 'CORRECTED');
    await until(async () => (await weights('SCALED0001'))[0] === 2.42);
  });

  it('shows a weight of another unit in pounds, and says that a weight has too many decimals', async ({
    page,
  }) => {
    await receive(page, 'DECIMALS01', '5');
    await press(page, 'F2');
    await weightField(page).fill('2 kg');
    await dialogOf(page).getByText('= 4.41 lb').waitFor();
    await weightField(page).fill('2.1234');
    await press(page, 'Enter');
    await dialogOf(page).getByText('Three decimals at most').waitFor();
    expect(await weights('DECIMALS01')).toEqual([5]);
  });

  it('ends when the next parcel is scanned, whose weight goes to that parcel', async ({ page }) => {
    await receive(page, 'CORRSCAN05', '5');
    await press(page, 'F2');
    await dialogOf(page).waitFor();
    await type(page, '8.5');
    await scan(page, 'CORRSCAN-6');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.getByTestId('earlier').getByText('CORRSCAN05 was not corrected').waitFor();
    await expectWord(page, 'UNKNOWN');
    await type(page, '7');
    await page.keyboard.press('Enter');
    await expectWord(page, 'NO OWNER');
    expect(await weights('CORRSCAN-6')).toEqual([7]);
    expect(await weights('CORRSCAN05')).toEqual([5]);
  });

  it('is offered by a button for the last parcel and for each of the latest scans', async ({ page }) => {
    await receive(page, 'BUTTON0001', '1');
    await receive(page, 'BUTTON0002', '2');
    await rowOf(page, 'BUTTON0001').getByRole('button', { name: 'Correct BUTTON0001' }).click();
    expect(await dialogOf(page).innerText()).toContain('BUTTON0001');
    await type(page, '1.5');
    await page.keyboard.press('Enter');
    await expectWord(page, 'CORRECTED');
    await page.getByRole('button', { name: 'Correct the last parcel' }).click();
    expect(await dialogOf(page).innerText()).toContain('BUTTON0002');
    await press(page, 'Escape');
    expect([...(await weights('BUTTON0001')), ...(await weights('BUTTON0002'))]).toEqual([1.5, 2]);
  });
});
