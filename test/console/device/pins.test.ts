import { beforeAll, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { chromiumPath, findingsOf, logIn, scan, type } from '../../support/console/browser.js';
import { locked, loginPage } from '../../support/console/locked.js';
import { consoleSuite, expectWord, press, receiversOf, weightsOf } from '../../support/console/suite.js';
import { insertUsers } from '../../support/builders/users.js';

// Workers who share a station change with a PIN (decision 0137).

const { it, service } = consoleSuite({ worksOffline: true });

beforeAll(async () => {
  if (chromiumPath) await insertUsers(service().owner, 1);
});

const PINS = { warehouse: '480271', 'spare-1': '739146' };
const NAMES = { warehouse: 'Demo Warehouse', 'spare-1': 'Spare User 1' };
type Worker = keyof typeof PINS;

const accountMenu = (page: Page) => page.getByRole('button', { name: /Account/ });
const pins = (page: Page) => page.getByTestId('pin-login');

/** Sets the PIN of the user that is logged in, as a person does. */
async function setPin(page: Page, worker: Worker): Promise<void> {
  await accountMenu(page).click();
  await page.getByRole('button', { name: 'PIN for changing workers' }).click();
  const dialog = page.getByRole('dialog', { name: 'PIN for changing workers' });
  await dialog.getByLabel('Password').fill(DEMO.password);
  await dialog.getByLabel('New PIN', { exact: true }).fill(PINS[worker]);
  await dialog.getByLabel('New PIN again').fill(PINS[worker]);
  await dialog.getByRole('button', { name: 'Set the PIN' }).click();
  await dialog.getByText('Your PIN works here until').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
}

/** Makes the browser a station of both workers. The second one is at work. */
async function share(page: Page): Promise<void> {
  await setPin(page, 'warehouse');
  await accountMenu(page).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await loginPage(page);
  await logIn(page, 'spare-1', DEMO.password);
  await page.locator('.workplace').waitFor();
  await setPin(page, 'spare-1');
}

async function choose(page: Page, worker: Worker, pin = PINS[worker]): Promise<void> {
  await pins(page).getByRole('button', { name: NAMES[worker] }).click();
  await pins(page).getByLabel(`PIN of ${NAMES[worker]}`).fill(pin);
  await page.keyboard.press('Enter');
}

it('a key, a name and the PIN put another worker at the station, who receives in the own name', async (page) => {
  await share(page);
  await scan(page, 'PIN00000001');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  await press(page, 'F9');
  await locked(page).waitFor();
  // The worker of before is chosen, and only enters the PIN.
  await pins(page).getByLabel(`PIN of ${NAMES['spare-1']}`).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await choose(page, 'warehouse');
  await locked(page).waitFor({ state: 'detached' });
  await accountMenu(page).getByText(NAMES.warehouse).waitFor();
  await scan(page, 'PIN00000002');
  await expectWord(page, 'UNKNOWN');
  await type(page, '5.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  expect([await receiversOf(service(), 'PIN00000001'), await receiversOf(service(), 'PIN00000002')]).toEqual([
    [{ weight: 4.5, username: 'spare-1' }],
    [{ weight: 5.5, username: 'warehouse' }],
  ]);
});

it('the number of a parcel in work is handed over, and its weight is not', async (page) => {
  await share(page);
  await scan(page, 'PIN00000003');
  await expectWord(page, 'UNKNOWN');
  await type(page, '6.25');
  await press(page, 'F9');
  await choose(page, 'warehouse');
  const kept = page.getByTestId('locked-scans');
  await kept.getByText('PIN00000003', { exact: true }).first().waitFor();
  expect(await weightsOf(service(), 'PIN00000003')).toEqual([]);
  await kept.getByRole('button', { name: 'Take it PIN00000003' }).click();
  await expectWord(page, 'UNKNOWN');
  expect(await page.getByLabel('Weight').inputValue()).toBe('');
});

it('the same worker goes on with the PIN where it was', async (page) => {
  await share(page);
  await scan(page, 'PIN00000004');
  await expectWord(page, 'UNKNOWN');
  await type(page, '7.5');
  await press(page, 'F9');
  await pins(page).getByLabel(`PIN of ${NAMES['spare-1']}`).fill(PINS['spare-1']);
  await page.keyboard.press('Enter');
  await locked(page).waitFor({ state: 'detached' });
  expect(await page.getByLabel('Weight').inputValue()).toBe('7.5');
});

it('a wrong PIN says what is left, and five of them leave the password', async (page) => {
  await share(page);
  await press(page, 'F9');
  for (const left of [4, 3, 2, 1]) {
    await choose(page, 'warehouse', '999998');
    await pins(page).getByRole('alert').getByText(`needs your password: ${left}.`).waitFor();
  }
  await choose(page, 'warehouse', '999998');
  await pins(page).getByText('Log in with your password.').waitFor();
  await choose(page, 'spare-1');
  await locked(page).waitFor({ state: 'detached' });
  expect(await accountMenu(page).textContent()).toContain(NAMES['spare-1']);
});

it('after a log-out the login page offers the workers of the station, and no script can read its name', async (page) => {
  await share(page);
  await accountMenu(page).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await loginPage(page);
  await pins(page).getByRole('button').first().waitFor();
  expect(await pins(page).getByRole('button').allTextContents()).toEqual(Object.values(NAMES));
  expect(await findingsOf(page)).toEqual([]);
  const [cookie] = (await page.context().cookies()).filter(({ name }) => name === 'crossdock-station');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/' });
  const readable = await page.evaluate<string>(
    'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])',
  );
  expect(readable).not.toContain(cookie?.value);
  await choose(page, 'warehouse');
  await page.locator('.workplace').waitFor();
  await page.reload();
  await page.locator('.workplace').waitFor();
  expect(await accountMenu(page).textContent()).toContain(NAMES.warehouse);
});

it('a PIN that is typed as fast as a scanner does is never kept as a scan', async (page) => {
  await share(page);
  await press(page, 'F9');
  await pins(page).getByRole('button', { name: NAMES.warehouse }).click();
  // The field has the focus, also if the name was chosen before.
  await pins(page).getByRole('button', { name: NAMES.warehouse }).click();
  await type(page, PINS.warehouse);
  expect(await pins(page).getByLabel(`PIN of ${NAMES.warehouse}`).inputValue()).toBe(PINS.warehouse);
  // Away from the field, digits that can be a PIN are counted and not shown.
  await pins(page).getByRole('button', { name: NAMES.warehouse }).evaluate('(button) => button.focus()');
  for (const [n, pin] of ['739146', '7391462', '73914628'].entries()) {
    await scan(page, pin);
    await locked(page)
      .getByText(`Not kept: ${n + 1}.`)
      .waitFor();
  }
  const kept = await page.evaluate<string>('JSON.stringify({ ...sessionStorage })');
  expect(kept).not.toContain('739146');
  await choose(page, 'warehouse');
  await locked(page).waitFor({ state: 'detached' });
  expect(await page.getByTestId('locked-scans').count()).toBe(0);
});

it('F9 without a connection leaves the station open, and says why', async (page) => {
  await share(page);
  await page.context().setOffline(true);
  await press(page, 'F9');
  await expectWord(page, 'NOT LOCKED');
  await page.getByText('nobody could go on').waitFor();
  expect(await locked(page).count()).toBe(0);
  await page.context().setOffline(false);
});
