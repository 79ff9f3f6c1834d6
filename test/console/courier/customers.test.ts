import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';

// The customers of a courier.

const { it, service } = consoleSuite();

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const dialogOf = (page: Page) => page.getByRole('dialog');
const toasts = (page: Page) => page.getByTestId('toasts');

const customer = async (code: string): Promise<Record<string, unknown> | undefined> => {
  const { rows } = await service().owner.query<Record<string, unknown>>(
    'select first_name, last_name, is_active from customers where courier_id = $1 and user_code = $2',
    [DEMO.couriers.IEX, code],
  );
  return rows[0];
};

it(
  'a courier finds a customer, edits it, and undoes the edit; others have none of its couriers',
  async (page) => {
    await open(page, 'customers');
    await page.getByLabel('Code or name').fill('Campbell');
    await page.locator('.grid tbody tr').filter({ hasText: 'IEX-1001' }).click();
    const panel = page.getByRole('complementary', { name: 'IEX-1001' });
    await panel.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialogOf(page).getByLabel('First name').fill('Marcia Ann');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await panel.getByText('Marcia Ann Campbell').waitFor();
    expect(await customer('IEX-1001')).toMatchObject({ first_name: 'Marcia Ann' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await panel.getByText('Marcia Campbell').waitFor();
    expect(await customer('IEX-1001')).toMatchObject({ first_name: 'Marcia' });
    await open(page, 'customers/HRB-2001');
    await page.getByText('No customer has the code HRB-2001').waitFor();
  },
  'iex',
);

it(
  'a courier creates a customer without choosing a courier, deactivates it, and deletes it',
  async (page) => {
    await open(page, 'customers');
    await page.getByRole('button', { name: 'New customer' }).click();
    expect(await dialogOf(page).getByRole('combobox').count()).toBe(0);
    const fill = (label: string, value: string) =>
      dialogOf(page).getByLabel(label, { exact: true }).fill(value);
    await fill('User code', 'IEX-1001');
    await fill('First name', 'Nora');
    await fill('Last name', 'Quill');
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    await dialogOf(page).locator('[name=user_code][aria-invalid=true]').waitFor();
    await fill('User code', 'IEX-NORA');
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    await open(page, 'customers/IEX-NORA');
    const panel = page.getByRole('complementary', { name: 'IEX-NORA' });
    await panel.getByRole('button', { name: 'Deactivate' }).click();
    await panel.getByRole('button', { name: 'Activate', exact: true }).waitFor();
    expect(await customer('IEX-NORA')).toMatchObject({ first_name: 'Nora', is_active: false });
    await panel.getByRole('button', { name: 'Delete' }).click();
    await dialogOf(page).getByRole('button', { name: 'Delete the customer' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(await customer('IEX-NORA')).toBeUndefined();
  },
  'iex',
);

it(
  'a list is checked, and imported when the person confirms',
  async (page) => {
    await open(page, 'customers');
    await page.getByRole('button', { name: 'Import customers' }).click();
    const choose = (text: string) =>
      dialogOf(page)
        .getByLabel('File')
        .setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
    await choose('user_code,first_name,last_name\r\nIEX-IMP1,Ann,\r\n');
    await dialogOf(page).getByRole('button', { name: 'Check the file' }).click();
    await dialogOf(page)
      .getByRole('alert')
      .getByText(/^Row 2, last_name/)
      .waitFor();
    await choose('user_code,first_name,last_name\r\nIEX-IMP1,Ann,Lee\r\n');
    await dialogOf(page).getByRole('button', { name: 'Check the file' }).click();
    await dialogOf(page).getByTestId('import-result').waitFor();
    expect(await customer('IEX-IMP1')).toBeUndefined();
    await dialogOf(page).getByRole('button', { name: 'Import now (1)' }).click();
    await toasts(page).getByText('Imported. New: 1.').waitFor();
    expect(await customer('IEX-IMP1')).toMatchObject({ first_name: 'Ann', last_name: 'Lee' });
  },
  'iex',
);

it(
  'the synchronisation says where its address is missing, takes one, and lists its runs',
  async (page) => {
    await service().owner.query('update couriers set api_url_get_customers = null where id = $1', [
      DEMO.couriers.IEX,
    ]);
    await open(page, 'syncs');
    await page.getByRole('button', { name: 'Synchronise now' }).click();
    await page.getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'Set the address' }).click();
    await dialogOf(page).getByLabel('Address').fill('https://api.island-express.example/customers');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('https://api.island-express.example/customers').waitFor();
    await page.getByRole('button', { name: 'Synchronise now' }).click();
    await page.getByRole('region', { name: 'Customer sync' }).locator('tbody tr').first().waitFor();
  },
  'iex',
);
