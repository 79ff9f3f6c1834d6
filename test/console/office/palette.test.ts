import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { scan } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, service } = consoleSuite();

const pathOf = (page: Page) => page.evaluate<string>('location.pathname + location.search + location.hash');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('the palette', () => {
  const palette = (page: Page) => page.getByRole('dialog', { name: 'Search or go to' });

  it(
    'opens pages, actions, customers, couriers and manifests',
    async (page) => {
      const choose = async (text: string, option: RegExp) => {
        await page.keyboard.press('Control+k');
        await palette(page).getByRole('combobox').fill(text);
        await palette(page).getByRole('option', { name: option }).first().waitFor();
        await palette(page).getByRole('option', { name: option }).first().click();
        await palette(page).waitFor({ state: 'detached' });
      };
      await choose('courirs', /^Page Couriers/);
      await heading(page, 'Couriers');
      await choose('Marsha Cambell', /IEX-1001/);
      await page.getByRole('complementary', { name: 'IEX-1001' }).waitFor();
      await choose('new courier', /^Action New courier/);
      await heading(page, 'New courier');
      await choose('HRB', /Courier HRB/);
      await heading(page, 'Harbour Couriers (HRB)');
    },
    'manager',
  );

  it(
    'keeps nothing of a scan, and a scan elsewhere opens Find',
    async (page) => {
      await page.goto(`${service().url}/console/customers`);
      await heading(page, 'Customers');
      await page.keyboard.press('Control+k');
      const field = palette(page).getByRole('combobox');
      await field.waitFor();
      await scan(page, '1Z999AA10123456784');
      await page
        .getByTestId('toasts')
        .getByText(/Close the dialog/)
        .waitFor();
      expect(await field.inputValue()).toBe('');
      await page.keyboard.press('Escape');
      await palette(page).waitFor({ state: 'detached' });
      await page.getByLabel('Code or name').focus();
      await scan(page, '1Z999AA10123456784');
      await heading(page, 'Find');
      expect(await pathOf(page)).toBe('/console#/find');
      expect(await page.getByLabel('Code, number, customer or name').inputValue()).toBe('1Z999AA10123456784');
    },
    'manager',
  );
});
