import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { type } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { dialogOf, toasts } from './trial.js';

// Tasks with the keyboard alone, from the login to the end.

const { it, service } = consoleSuite();

/** The most presses of Tab on the way to something: once around a page with a list of 50 rows. */
const FAR = 150;

/** What has the focus, by the name that a screen reader says, as far as its text, label or aria-label gives it. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  const label = focused.labels?.[0]?.textContent ?? '';
  return (focused.getAttribute('aria-label') || label || focused.textContent || '').trim();
})()`;

/** Presses Tab until something with this name has the focus. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const isMeant = (text: string) => (typeof name === 'string' ? text === name : name.test(text));
  const seen: string[] = [];
  for (let presses = 0; presses < FAR; presses += 1) {
    const focused = await page.evaluate<string>(FOCUSED);
    if (isMeant(focused)) return;
    seen.push(focused.slice(0, 40));
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(name)}. It led to: ${[...new Set(seen)].join(' | ')}`);
}

/** Opens the palette, types, and goes to what it finds. */
async function goTo(page: Page, text: string, found: RegExp): Promise<void> {
  await page.keyboard.press('Control+k');
  const palette = dialogOf(page);
  await palette.waitFor();
  await type(page, text);
  await palette.getByRole('option', { name: found, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await palette.waitFor({ state: 'detached' });
}

it(
  'a manager finds a customer, and corrects the name',
  async (page) => {
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
    await goTo(page, 'IEX-1002', /IEX-1002/);
    await page.getByRole('complementary', { name: 'IEX-1002' }).waitFor();
    await tabTo(page, 'Edit');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    await tabTo(page, 'First name');
    await page.keyboard.press('Control+a');
    await type(page, 'Ann');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.getByRole('complementary', { name: 'IEX-1002' }).getByText(/^Ann /).waitFor();
  },
  'manager',
);

it(
  'a manager puts a parcel on hold',
  async (page) => {
    const number = newNumber();
    const parcels = makeParcels(service());
    const id = await parcels.receive(number, { user_code: CUSTOMERS.IEX });
    const house = String((await parcels.packageRow(id))['house_number']);
    await goTo(page, house, new RegExp(house));
    await page.getByRole('heading', { level: 1, name: house }).waitFor();
    await tabTo(page, 'Put on hold');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    await tabTo(page, /^Remark/);
    await type(page, 'Wet box');
    await page.keyboard.press('Enter');
    await page.getByTestId('timeline').getByText('Wet box').waitFor();
    expect(await parcels.packageRow(id)).toMatchObject({ status: 'on_hold' });
  },
  'manager',
);

it(
  'a manager records a payment',
  async (page) => {
    await goTo(page, 'Bills', /^Page Bills/);
    await tabTo(page, 'INV-000002');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: /^INV-000002/ }).waitFor();
    await tabTo(page, 'Record a payment');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    await tabTo(page, 'Amount (USD)');
    await page.keyboard.press('Control+a');
    await type(page, '10');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    const { body } = await service().call('getCourierBill', {
      as: 'manager',
      query: { bill_id: DEMO.bills.published },
    });
    expect(body['data'].payments.at(-1)).toMatchObject({ amount: 10, is_voided: false });
  },
  'manager',
);

it(
  'a manager filters the announcements, opens one with the keys of the list, and clears its flag',
  async (page) => {
    await goTo(page, 'Announcements', /^Page Announcements/);
    await page.getByRole('heading', { level: 1, name: 'Announcements' }).waitFor();
    // It comes with the number of flagged ones.
    await page.getByRole('link', { name: /^Flagged: / }).waitFor();
    await tabTo(page, /^Flagged: /);
    await page.keyboard.press('Enter');
    await page.waitForURL(/status=flagged/);
    const row = page.locator('.grid tbody tr').filter({ hasText: 'Flagged' }).first();
    await tabTo(page, (await row.getByRole('link').first().textContent()) ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').waitFor();
    await tabTo(page, 'Review');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor();
    await tabTo(page, /^Reason/);
    await type(page, 'The name is on the label.');
    await tabTo(page, 'Clear the flag');
    await page.keyboard.press('Enter');
    await dialogOf(page).waitFor({ state: 'detached' });
    await toasts(page).locator('li, p, div').first().waitFor();
  },
  'manager',
);

it(
  'a courier announces a parcel, and finds it in the list',
  async (page) => {
    const number = newNumber();
    await tabTo(page, 'Announce');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Announce' }).waitFor();
    await tabTo(page, 'Number');
    await type(page, number);
    await tabTo(page, 'Customer');
    await type(page, CUSTOMERS.IEX);
    await page.getByRole('option', { name: CUSTOMERS.IEX }).waitFor();
    await page.keyboard.press('Enter');
    await tabTo(page, 'Vendor');
    await type(page, 'Example Books');
    await tabTo(page, 'Announce');
    await page.keyboard.press('Enter');
    await page
      .getByRole('row')
      .filter({ hasText: number.slice(-8) })
      .waitFor();
  },
  'iex',
);
