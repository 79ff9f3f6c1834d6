import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, service } = consoleSuite();

type Row = Record<string, unknown>;

const customer = async (code: string): Promise<Row | undefined> => {
  const { rows } = await service().owner.query<Row>(
    `select first_name, last_name, branch, is_active from customers
     where tenant_id = $1 and courier_id = $2 and user_code = $3`,
    [DEMO.tenants.demo, DEMO.couriers.IEX, code],
  );
  return rows[0];
};

const openCustomer = async (page: Page, code: string) => {
  await page.goto(`${service().url}/console/customers/${code}?of=${DEMO.couriers.IEX}`);
  const panel = page.getByRole('complementary', { name: code });
  await panel.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  return panel;
};
const openCustomers = async (page: Page) => {
  await page.goto(`${service().url}/console/customers`);
};
const toasts = (page: Page) => page.getByTestId('toasts');

it(
  'a customer is found by a part of the name, edited, and the edit is undone',
  async (page) => {
    await openCustomers(page);
    await page.getByLabel('Code or name').fill('Campbell');
    await page.locator('.grid tbody tr').filter({ hasText: 'IEX-1001' }).click();
    const panel = page.getByRole('complementary', { name: 'IEX-1001' });
    await panel.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the customer' });
    await dialog.getByLabel('First name').fill('Marcia Ann');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await panel.getByText('Marcia Ann Campbell').waitFor();
    expect(await customer('IEX-1001')).toMatchObject({ first_name: 'Marcia Ann' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    await panel.getByText('Marcia Campbell').waitFor();
    expect(await customer('IEX-1001')).toMatchObject({ first_name: 'Marcia', last_name: 'Campbell' });
  },
  'manager',
);

it(
  'what the service refuses is named at its field, and nothing that was typed is lost',
  async (page) => {
    await openCustomers(page);
    await page.getByRole('button', { name: 'New customer' }).click();
    const dialog = page.getByRole('dialog', { name: 'New customer' });
    await dialog.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    const fill = (label: string, value: string) => dialog.getByLabel(label, { exact: true }).fill(value);
    await fill('User code', 'IEX-1001');
    await fill('First name', 'Nora');
    await fill('Last name', 'Quill');
    await fill('E-mail (optional)', 'not an address');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').getByText('Nothing was saved. Check the marked fields.').waitFor();
    const invalid = () => dialog.locator('[aria-invalid=true]');
    expect(await invalid().getAttribute('name')).toBe('email');
    await fill('E-mail (optional)', 'nora@quill.example');
    await dialog.getByRole('button', { name: 'Create' }).click();
    // The same code again: the envelope names no field, the form does.
    await dialog.locator('[name=user_code][aria-invalid=true]').waitFor();
    expect(await invalid().count()).toBe(1);
    expect(await dialog.getByLabel('Last name').inputValue()).toBe('Quill');
    await fill('User code', 'IEX-NORA');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await customer('IEX-NORA')).toMatchObject({ first_name: 'Nora', last_name: 'Quill' });
  },
  'manager',
);

it(
  'selected customers are deactivated together, and the undo activates exactly those',
  async (page) => {
    await openCustomers(page);
    await page.getByLabel('Code or name').fill('IEX-101');
    await page.waitForURL(/search=IEX-101/);
    await page.getByLabel('Select IEX-1010').check();
    await page.getByLabel('Select IEX-1011').check();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await toasts(page).getByText('Customers deactivated: 2').waitFor();
    const active = async () => [
      await customer('IEX-1010'),
      await customer('IEX-1011'),
      await customer('IEX-1012'),
    ];
    expect((await active()).map((row) => row?.['is_active'])).toEqual([false, false, true]);
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect((await active()).map((row) => row?.['is_active'])).toEqual([true, true, true]);
  },
  'manager',
);

it(
  'a customer is deleted only after a question that names the effect',
  async (page) => {
    const panel = await openCustomer(page, 'IEX-1020');
    await panel.getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete IEX-1020' });
    await dialog.getByText('deleted for ever').waitFor();
    // The focus is on the harmless button.
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    // It leads back to the button that asked.
    await page.waitForFunction(`document.activeElement.textContent === 'Delete'`);
    expect(await customer('IEX-1020')).toMatchObject({ is_active: true });
    await panel.getByRole('button', { name: 'Delete' }).click();
    await dialog.getByRole('button', { name: 'Delete the customer' }).click();
    await dialog.waitFor({ state: 'detached' });
    await panel.waitFor({ state: 'detached' });
    expect(await customer('IEX-1020')).toBe(undefined);
  },
  'manager',
);

it(
  'a file is checked before it is stored, and its problems can be saved as a file',
  async (page) => {
    await openCustomers(page);
    await page.getByRole('button', { name: 'Import customers' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import customers' });
    const choose = (text: string) =>
      dialog.getByLabel('File').setInputFiles({
        name: 'customers.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`user_code,first_name,last_name\n${text}`),
      });
    await dialog.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    await choose('IEX-IMP1,Ada,Byron\n,No,Code\n');
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByText(/^Row 3, user_code: /).waitFor();
    const { name, bytes } = await savedFile(page, () =>
      dialog.getByRole('button', { name: 'Save the list of problems (CSV)' }).click(),
    );
    expect(name).toBe('import-errors.csv');
    expect(bytes.toString('utf8')).toMatch(/^\uFEFFRow,Column,Problem\r\n3,user_code,/);
    await choose('IEX-IMP1,Ada,Byron\nIEX-1001,Marcia,Campbell\n');
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByTestId('import-result').getByText('Nothing is stored yet').waitFor();
    expect(await customer('IEX-IMP1')).toBe(undefined);
    await dialog.getByRole('button', { name: 'Import now (1)' }).click();
    await dialog.waitFor({ state: 'detached' });
    await toasts(page).getByText('Imported. New: 1. Changed: 0.').waitFor();
    expect(await customer('IEX-IMP1')).toMatchObject({ first_name: 'Ada' });
  },
  'manager',
);

it(
  'the answer about a file says nothing about another one that was chosen meanwhile',
  async (page) => {
    await openCustomers(page);
    await page.getByRole('button', { name: 'Import customers' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import customers' });
    const choose = (code: string) =>
      dialog.getByLabel('File').setInputFiles({
        name: 'customers.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`user_code,first_name,last_name\n${code},Ada,Byron\n`),
      });
    const uploads = '**/api/UploadCustomers.php*';
    let answer = () => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route(uploads, async (route) => {
      await isAnswered;
      await route.continue();
    });
    await dialog.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    await choose('IEX-FIRST');
    const answered = page.waitForResponse(uploads);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await choose('IEX-OTHER');
    answer();
    await answered;
    // It is enabled when the answer has been read.
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByTestId('import-result').waitFor();
    await dialog.getByRole('button', { name: 'Import now (1)' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await customer('IEX-FIRST')).toBe(undefined);
    expect(await customer('IEX-OTHER')).toMatchObject({ is_active: true });
  },
  'manager',
);

it(
  'all customers that the list finds are saved as a file, in its order',
  async (page) => {
    await page.goto(`${service().url}/console/customers?search=an&sort=-last_name`);
    await page.locator('.grid tbody tr').first().waitFor();
    await page.getByRole('button', { name: 'Export all that match' }).click();
    const dialog = page.getByRole('dialog', { name: 'Export all that match' });
    await dialog.getByLabel('Format').selectOption('csv');
    const { name, bytes } = await savedFile(page, () =>
      dialog.getByRole('button', { name: 'Save the file' }).click(),
    );
    expect(name).toBe('customers.csv');
    const codes = bytes
      .toString()
      .trim()
      .split('\r\n')
      .map((line) => line.split(',')[0]);
    const { body } = await service().call('listCustomers', {
      as: 'manager',
      query: { search: 'an', sort_by: 'last_name', sort_dir: 'DESC', limit: 100 },
    });
    expect(codes).toEqual(['User Code', ...body['data'].map((row: Row) => row['user_code'])]);
  },
  'manager',
);
