import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const termsOf = async (courierId: string) => {
  const { body } = await service().call('getPaymentTerms', {
    as: 'manager',
    query: { courier_id: courierId },
  });
  const { default_days, courier } = body['data'];
  return [default_days, courier.days, courier.uses_default];
};

const days = (page: Page) => page.getByLabel(/^Days from publication/);
const save = async (page: Page, text: string) => {
  await days(page).fill(text);
  // The tab of rates has other forms too.
  await page
    .locator('form')
    .filter({ has: days(page) })
    .getByRole('button', { name: 'Save' })
    .click();
};
const toasts = (page: Page) => page.getByTestId('toasts');

it(
  'the payment terms of all couriers and of one are changed, undone and removed',
  async (page) => {
    await page.goto(`${service().url}/console/settings/billing`);
    await save(page, '400');
    await page.locator('[name=days][aria-invalid=true]').waitFor();
    await save(page, '21');
    await toasts(page).getByText('New bills are due after so many days: 21.').waitFor();
    expect(await termsOf(DEMO.couriers.IEX)).toEqual([21, 21, true]);

    await page.goto(`${service().url}/console/couriers/IEX/rates`);
    await page.getByText('Empty means the default of all couriers: 21.').waitFor();
    expect(await days(page).inputValue()).toBe('');
    await save(page, '7');
    await toasts(page).getByText('New bills are due after so many days: 7.').waitFor();
    expect(await termsOf(DEMO.couriers.IEX)).toEqual([21, 7, false]);
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await termsOf(DEMO.couriers.IEX)).toEqual([21, 21, true]);
  },
  'manager',
);
