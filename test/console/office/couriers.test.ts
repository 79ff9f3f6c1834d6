import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { it, service } = consoleSuite();

it(
  'five steps lead from the details to a sheet with which the courier can begin',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/new`);
    await page.getByLabel('Code', { exact: true }).fill('iex');
    await page.getByLabel('Name', { exact: true }).fill('Quay Parcels');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('User name').fill('quay');
    await page.getByLabel('Full name').fill('Quinn Quay');
    await page.getByRole('button', { name: 'Create the courier' }).click();
    // The code is taken: the step that has it opens, with everything that was typed.
    const code = page.getByLabel('Code', { exact: true });
    await code.waitFor();
    expect(await code.getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Quay Parcels');
    await code.fill('quay');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.getByLabel('Full name').inputValue()).toBe('Quinn Quay');
    await page.getByRole('button', { name: 'Create the courier' }).click();
    await page.getByRole('button', { name: 'Copy them as its own' }).click();
    await page.getByLabel(/^New packages/).fill('http://quay.example/hook');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('[name=api_url_add_package][aria-invalid=true]').waitFor();
    await page.getByLabel(/^New packages/).fill('https://quay.example/hook');
    await page.getByRole('button', { name: 'Continue' }).click();
    const sheet = page.getByTestId('sheet');
    await sheet.getByRole('heading', { name: 'Hand-over sheet: Quay Parcels' }).waitFor();
    const [password = '', key = ''] = await sheet.getByTestId('secret').allTextContents();
    const login = await service().call('login', { body: { action: 'login', username: 'quay', password } });
    expect(login.status).toBe(200);
    const { rows } = await service().owner.query<{ tiers: number }>(
      `select count(*)::int as tiers from rate_tiers t join couriers c on c.tenant_id = t.tenant_id and c.id = t.courier_id
     where c.tenant_id = $1 and c.code = 'QUAY'`,
      [DEMO.tenants.demo],
    );
    expect(rows[0]?.tiers).toBeGreaterThan(0);
    expect(key.length).toBeGreaterThan(20);
    await sheet.getByRole('link', { name: 'Go to the courier' }).click();
    await page.getByRole('heading', { level: 1, name: 'Quay Parcels (QUAY)' }).waitFor();
    // The sheet is gone, so that the address of the wizard begins a new courier.
    await page.getByRole('link', { name: 'API key', exact: true }).click();
    await page.getByTestId('secret').waitFor();
    expect(await page.getByTestId('secret').textContent()).toBe(key);
  },
  'manager',
);

it(
  'a new API key is made only after a question, and is another one',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/HRB/key`);
    const shown = page.getByTestId('secret');
    await shown.waitFor();
    const before = await shown.textContent();
    await page.getByRole('button', { name: 'Make a new key' }).click();
    const question = page.getByRole('dialog', { name: 'Make a new key' });
    await question.getByText('stops working at once').waitFor();
    await question.getByRole('button', { name: 'Make a new key' }).click();
    const made = page.getByRole('dialog', { name: 'The new API key' }).getByTestId('secret');
    await made.waitFor();
    expect(await made.textContent()).not.toBe(before);
    expect(await made.textContent()).toMatch(/^\S{20,}$/);
  },
  'manager',
);

it(
  'the tab Webhooks sends only what was changed, so that it confirms no URL that a service token has set',
  async (page) => {
    const planted = 'https://planted.example/hook';
    await service().owner.query(
      `update couriers set api_url_add_package = $2, api_url_update_package = null, urls_of_tokens = '{api_url_add_package}'
       where id = $1`,
      [DEMO.couriers.HRB, planted],
    );
    const stored = async () => {
      const { rows } = await service().owner.query<Record<string, unknown>>(
        `select api_url_add_package as add, api_url_get_customers as customers, urls_of_tokens as of_tokens from couriers where id = $1`,
        [DEMO.couriers.HRB],
      );
      return rows[0];
    };
    const before = await stored();
    await page.goto(`${service().url}/console/couriers/HRB/webhooks`);
    await page.getByLabel(/^Customers/).fill('https://harbour.example/customers');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).waitFor();
    const saved = { add: planted, of_tokens: ['api_url_add_package'] };
    expect(await stored()).toEqual({ ...saved, customers: 'https://harbour.example/customers' });
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).click();
    await until(async () => (await stored())?.['customers'] === before?.['customers']);
    expect(await stored()).toEqual({ ...saved, customers: before?.['customers'] });
  },
  'manager',
);

it(
  'a gap between two rates is named before they are saved',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/HRB/rates`);
    await page.getByText('This courier is billed by the default rates.').waitFor();
    const add = async (row: number, values: [string, string, string]) => {
      await page.getByRole('button', { name: 'Add a tier' }).click();
      for (const [index, field] of ['From (lb)', 'To (lb)', 'Fee (USD)'].entries())
        await page.getByLabel(`${field}, row ${row}`).fill(values[index] ?? '');
    };
    await add(1, ['0', '5', '3,50']);
    await add(2, ['7', '20', '9']);
    await page.getByText('Parcels between 5 lb and 7 lb have no fee.').waitFor();
    await page.getByLabel('From (lb), row 2').fill('x');
    await page.getByRole('button', { name: 'Save the rates' }).click();
    await page.getByRole('alert').getByText('Row 2: enter numbers').waitFor();
    await page.getByLabel('From (lb), row 2').fill('5');
    await page.getByRole('button', { name: 'Save the rates' }).click();
    await page.getByText('This courier has its own rates.').waitFor();
    const { body } = await service().call('getCourierRates', {
      as: 'manager',
      query: { courier_id: DEMO.couriers.HRB },
    });
    expect(
      body['data'].courier.specific_rates.map(({ startweight, endweight, fee }: Record<string, number>) => [
        startweight,
        endweight,
        fee,
      ]),
    ).toEqual([
      [0, 5, 3.5],
      [5, 20, 9],
    ]);
  },
  'manager',
);

it(
  'a courier is deactivated after a question that names the effect, and the toast undoes it',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/HRB`);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    const dialog = page.getByRole('dialog', { name: 'Deactivate couriers' });
    await dialog.getByText('blocked at once').waitFor();
    await dialog.getByRole('button', { name: 'Deactivate (1)' }).click();
    await dialog.waitFor({ state: 'detached' });
    const isActive = async () => {
      const { rows } = await service().owner.query<{ is_active: boolean }>(
        'select is_active from couriers where tenant_id = $1 and id = $2',
        [DEMO.tenants.demo, DEMO.couriers.HRB],
      );
      return rows[0]?.is_active;
    };
    expect(await isActive()).toBe(false);
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).click();
    await page.getByTestId('toasts').getByText('Undone.').waitFor();
    expect(await isActive()).toBe(true);
  },
  'manager',
);

it(
  'a manager gives a courier a logo, and deletes it after a question',
  async (page) => {
    const logoOf = async () => {
      const { body } = await service().call('getCourierSettings', {
        as: 'manager',
        query: { id: DEMO.couriers.HRB },
      });
      return String(body['data'].logo_path);
    };
    const before = await logoOf();
    await page.goto(`${service().url}/console/couriers/HRB`);
    await page.getByLabel(/Replace the logo|Upload a logo/).setInputFiles({
      name: 'logo.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
      ),
    });
    await page.getByTestId('toasts').getByText('The logo is stored.').waitFor();
    expect(await logoOf()).not.toBe(before);
    await page.getByRole('button', { name: 'Delete the logo' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the logo' }).click();
    await page.getByText('No logo yet.').waitFor();
    expect(await logoOf()).toBe('null');
  },
  'manager',
);
