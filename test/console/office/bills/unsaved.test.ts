import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';
import { eventually } from '../../../support/receivers/webhooks.js';
import { choose, toasts } from '../../trial/trial.js';

const { atWork, it, runs, service } = consoleSuite();

const question = (page: Page) => page.getByRole('dialog', { name: 'Leave without saving?' });
const stay = (page: Page) => question(page).getByRole('button', { name: 'Stay and go on' });
const leave = (page: Page) => question(page).getByRole('button', { name: 'Leave without saving' });
const pathOf = (page: Page) => page.evaluate<string>('location.pathname + location.hash');
const fee = (page: Page) => page.getByLabel('Fee (USD), row 1');

/** Whether the browser would ask before it closes or loads the page. */
const browserAsks = (page: Page) =>
  page.evaluate<boolean>(`!window.dispatchEvent(new Event('beforeunload', { cancelable: true }))`);

it(
  'changed rates are lost only after a question, by a link, by the way back and by another courier',
  async (page) => {
    await page.goto(`${service().url}/console/couriers`);
    await page.getByRole('link', { name: 'IEX', exact: true }).click();
    await page.locator('.tabs').getByRole('link', { name: 'Rates' }).click();
    await fee(page).waitFor();
    expect(await browserAsks(page)).toBe(false);
    const before = await fee(page).inputValue();
    await fee(page).fill('99.5');
    expect(await browserAsks(page)).toBe(true);
    // A link of the menu.
    await choose(page, 'Home');
    await question(page).getByText('your changes are lost: Rates.').waitFor();
    // The focus is on the harmless button.
    await page.keyboard.press('Enter');
    await question(page).waitFor({ state: 'detached' });
    expect([await pathOf(page), await fee(page).inputValue()]).toEqual([
      '/console/couriers/IEX/rates',
      '99.5',
    ]);
    // The way back, twice: Escape stays too.
    await page.goBack();
    await question(page).waitFor();
    await page.keyboard.press('Escape');
    await question(page).waitFor({ state: 'detached' });
    expect([await pathOf(page), await fee(page).inputValue()]).toEqual([
      '/console/couriers/IEX/rates',
      '99.5',
    ]);
    await page.goBack();
    await leave(page).click();
    await page.waitForURL('**/console/couriers/IEX');
    expect(await browserAsks(page)).toBe(false);
    // Nothing is saved, and an unchanged form asks nothing.
    await page.locator('.tabs').getByRole('link', { name: 'Rates' }).click();
    await fee(page).waitFor();
    expect(await fee(page).inputValue()).toBe(before);
    await fee(page).fill('98');
    await fee(page).fill(before.replace('.', ','));
    expect(await browserAsks(page)).toBe(false);
    // Another courier, from the palette.
    await fee(page).fill('97');
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('HRB');
    await page.getByRole('dialog').getByRole('option', { name: /HRB/ }).first().click();
    await leave(page).click();
    await page.waitForURL('**/console/couriers/HRB');
  },
  'manager',
);

it(
  'saving one form of a courier drops nothing that was typed in another, and the question names both',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/IEX/rates`);
    await fee(page).fill('96');
    const card = page.locator('section.card', { has: page.getByRole('heading', { name: 'Air freight' }) });
    await card.getByRole('textbox').fill('7.35');
    await choose(page, 'Home');
    await question(page).getByText('your changes are lost: Rates, Air freight.').waitFor();
    await stay(page).click();
    await card.getByRole('button', { name: 'Save' }).click();
    await toasts(page).getByText('The rate of air freight is saved.').waitFor();
    await choose(page, 'Home');
    await question(page).getByText('your changes are lost: Rates.').waitFor();
    await stay(page).click();
    expect(await fee(page).inputValue()).toBe('96');
    await page.getByRole('button', { name: 'Save the rates' }).click();
    await toasts(page).getByText('The rates are saved.').waitFor();
    // The saved rates load again.
    await eventually(async () => !(await browserAsks(page)));
    await choose(page, 'Home');
    await page.waitForURL('**/console/home');
  },
  'manager',
);

runs('The question has no finding of axe, fits on a phone, and is Spanish for a courier too', async () => {
  const page = await atWork({
    user: 'iex',
    width: 390,
    colorScheme: 'dark',
    locale: 'es-ES',
    isQuiet: false,
    device: {},
  });
  await page.goto(`${service().url}/console#/profile`);
  await page.getByLabel(/^Ciudad/).fill('Portmore');
  await page.evaluate(`location.hash = '#/developers'`);
  const dialog = page.getByRole('dialog', { name: '¿Salir sin guardar?' });
  await dialog.getByText('se pierden sus cambios').waitFor();
  expect(await findingsOf(page)).toEqual([]);
  expect(await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await dialog.getByRole('button', { name: 'Quedarse y seguir' }).click();
  expect(await pathOf(page)).toBe('/console#/profile');
  expect(await page.getByLabel(/^Ciudad/).inputValue()).toBe('Portmore');
  await page.evaluate(`location.hash = '#/developers'`);
  await dialog.getByRole('button', { name: 'Salir sin guardar' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sistemas' }).waitFor();
});
