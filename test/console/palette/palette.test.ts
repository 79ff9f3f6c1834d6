import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, scan } from '../../support/console/browser.js';
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

describe('in Spanish, or with another word for it', () => {
  /** Opens the palette, and returns the names of what it finds first. */
  async function firstOf(page: Page, text: string): Promise<string> {
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog').filter({ has: page.getByRole('combobox') });
    await dialog.getByRole('combobox').fill(text);
    const first = await dialog.getByRole('option').first().innerText();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    return first;
  }

  it(
    'a manager finds what can be done, with a letter missing too',
    async (page) => {
      const english: [string, RegExp][] = [
        ['invite user', /New user/],
        ['bill run', /Bill.*run/i],
        ['recieve', /Station: Receive/],
        ['void', /Void a receipt/],
        ['second factor', /Change the password/],
        ['carriers', /Settings: Carriers/],
        ['payment terms', /Settings: Billing/],
      ];
      for (const [text, name] of english)
        expect([text, await firstOf(page, text)]).toEqual([text, expect.stringMatching(name)]);
      await page.evaluate(
        `localStorage.setItem('crossdock-device', JSON.stringify({ ...JSON.parse(localStorage.getItem('crossdock-device')), language: 'es' }))`,
      );
      await page.reload();
      await page.getByRole('button', { name: /^Buscar o ir a/ }).waitFor();
      const spanish: [string, RegExp][] = [
        ['nuevo manifiesto', /Nuevo manifiesto/],
        ['anular', /Anular una recepción/],
        ['invitar', /usuario/i],
        ['recepcion', /recepción|Recibir/i],
      ];
      for (const [text, name] of spanish)
        expect([text, await firstOf(page, text)]).toEqual([text, expect.stringMatching(name)]);
    },
    'manager',
  );

  it(
    'New manifest opens its dialog, and closing it leaves the list',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('dialog').getByRole('combobox').fill('new manifest');
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog', { name: 'New manifest' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await pathOf(page)).toBe('/console#/manifests');
    },
    'manager',
  );
});

describe('the palette of a courier', () => {
  it(
    'opens its pages, actions, parcels and customers, and has nothing of the office',
    async (page) => {
      const dialog = page.getByRole('dialog', { name: 'Search or go to' });
      const choose = async (text: string, option: RegExp) => {
        await page.keyboard.press('Control+k');
        await dialog.getByRole('combobox').fill(text);
        await dialog.getByRole('option', { name: option }).first().click();
        await dialog.waitFor({ state: 'detached' });
      };
      await page.getByRole('button', { name: /^Search or go to/ }).click();
      await dialog.getByRole('option', { name: /^Page Home/ }).waitFor();
      expect(await dialog.getByRole('option', { name: /Station|Audit|Settings/ }).count()).toBe(0);
      expect(await findingsOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await choose('servce tokens', /^Page Service tokens/);
      await heading(page, 'Service tokens');
      await choose('import', /^Action Import customers/);
      await page.getByRole('dialog', { name: 'Import customers' }).waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await pathOf(page)).toBe('/console#/customers');
      await choose('IEX-1001', /^Customer IEX-1001/);
      await page.getByRole('complementary', { name: 'IEX-1001' }).waitFor();
      const { rows } = await service().owner.query(
        'select house_number from packages where courier_id = $1 and user_code is not null limit 1',
        [DEMO.couriers.IEX],
      );
      await choose(String(rows[0].house_number), /^Parcel /);
      await page.getByRole('complementary').getByText(String(rows[0].house_number)).first().waitFor();
    },
    'iex',
  );
});
