import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeBilling } from '../../support/builders/billing.js';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { readWorkbook } from '../../support/readers/workbook.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';
import { textWorkbook } from '../../support/workbooks/workbook-of.js';
import { choose, dialogOf, rowOf, task, toasts } from './trial.js';

// What a manager does, without another program: the tasks of the trial of the console, each with its clicks.

const suite = consoleSuite();
const { service } = suite;
const user = 'manager';

const one = async (text: string, values: unknown[]) =>
  (await service().owner.query<Record<string, unknown>>(text, values)).rows[0];

/** The first and the last day of the month before this one, in UTC. */
const lastMonth = () => {
  const now = new Date();
  const day = (month: number, date: number) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month, date)).toISOString().slice(0, 10);
  return { first: day(-1, 1), last: day(0, 0) };
};

task(suite, {
  title: 'finds a customer by a name, and corrects it',
  user,
  most: 3,
  work: async (page) => {
    await choose(page, 'Customers');
    await page.getByLabel('Code or name').fill('Marcia Campbell');
    await rowOf(page, 'IEX-1001').click();
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialogOf(page).getByLabel('First name').fill('Marcia Ann');
    await page.keyboard.press('Enter');
    await toasts(page).getByRole('button', { name: 'Undo' }).waitFor();
    expect(
      await one('select first_name from customers where tenant_id = $1 and user_code = $2', [
        DEMO.tenants.demo,
        'IEX-1001',
      ]),
    ).toEqual({ first_name: 'Marcia Ann' });
  },
});

task(suite, {
  title: 'sets up a courier with a user, a key and rates, and has a sheet to hand over',
  user,
  most: 7,
  work: async (page) => {
    await choose(page, 'Couriers');
    await page.getByRole('link', { name: 'New courier' }).click();
    await page.getByLabel('Code', { exact: true }).fill('quay');
    await page.getByLabel('Name', { exact: true }).fill('Quay Parcels');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('User name').fill('quay');
    await page.getByLabel('Full name').fill('Quinn Quay');
    await page.getByRole('button', { name: 'Create the courier' }).click();
    await page.getByRole('button', { name: 'Copy them as its own' }).click();
    await page.getByLabel(/^New packages/).fill('https://quay.example/hook');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByTestId('sheet').getByRole('heading', { name: 'Hand-over sheet: Quay Parcels' }).waitFor();
    expect(await page.getByTestId('sheet').getByTestId('secret').count()).toBe(2);
  },
});

task(suite, {
  title: 'clears a flagged announcement from Home',
  user,
  most: 4,
  work: async (page) => {
    await page.locator('.figure', { hasText: 'Flagged announcements' }).getByRole('link').click();
    await rowOf(page, 'Flagged').first().getByRole('link').first().click();
    const number = decodeURIComponent(
      (await page.evaluate<string>('location.pathname')).split('/').at(-1) ?? '',
    );
    await page.getByRole('button', { name: 'Review' }).click();
    await dialogOf(page).getByLabel('Reason').fill('The name is on the label.');
    await dialogOf(page).getByRole('button', { name: 'Clear the flag' }).click();
    await toasts(page).getByText(number).waitFor();
  },
});

task(suite, {
  title: 'bills a courier for last month: draft, check, publish, payment, PDF',
  user,
  most: 16,
  prepare: async () => {
    const billing = makeBilling(service());
    const courier = await billing.newCourier();
    const { first } = lastMonth();
    const parcel = { weight: '5', receivedAt: `${first.slice(0, 8)}15T12:00:00Z` };
    await billing.addPackages(courier, [parcel, parcel]);
    const row = await one('select name from couriers where id = $1', [courier]);
    billed.name = String(row?.['name']);
  },
  work: async (page) => {
    await choose(page, 'Bills');
    await page.getByRole('link', { name: 'Bill a courier' }).click();
    await page.getByRole('combobox', { name: 'Courier' }).selectOption({ label: billed.name });
    await page.getByRole('button', { name: 'Draft the bill' }).click();
    const draft = page.getByRole('dialog', { name: 'Draft the bill' });
    await draft.getByLabel('Service').fill('Air standard');
    await draft.getByLabel(/^Tax in percent/).fill('7,5');
    await draft.getByRole('button', { name: 'Draft the bill' }).click();
    await page.getByRole('heading', { level: 1, name: `· ${billed.name}` }).waitFor();
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    await dialogOf(page)
      .getByRole('button', { name: /^Publish/ })
      .click();
    await page.getByRole('heading', { level: 1, name: /^INV-/ }).waitFor();
    await page.getByRole('button', { name: 'Record a payment' }).click();
    await dialogOf(page).getByRole('button', { name: 'Record a payment' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    await page.getByText('Paid', { exact: true }).first().waitFor();
    const { bytes } = await savedFile(page, () => page.getByRole('button', { name: 'PDF' }).click());
    expect(bytes.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  },
});

const billed = { name: '' };

task(suite, {
  title: 'changes a rate of a courier',
  user,
  most: 4,
  work: async (page) => {
    await choose(page, 'Couriers');
    await rowOf(page, 'Island Express').getByRole('link', { name: 'IEX' }).click();
    // The menu has a page of this name too: the default rates.
    await page.locator('main').getByRole('link', { name: 'Rates', exact: true }).click();
    await page.getByLabel('Fee (USD), row 1').fill('4.75');
    await page.getByRole('button', { name: 'Save the rates' }).click();
    await toasts(page).getByRole('button', { name: 'Undo' }).waitFor();
    const { body } = await service().call('getCourierRates', {
      as: 'manager',
      query: { courier_id: DEMO.couriers.IEX },
    });
    expect(body['data'].courier.specific_rates[0]).toMatchObject({ startweight: 0, fee: 4.75 });
  },
});

task(suite, {
  title: 'saves the parcels of last month as an Excel file',
  user,
  most: 4,
  work: async (page) => {
    const { first, last } = lastMonth();
    await choose(page, 'Parcels');
    await page.getByLabel('Received from').fill(first);
    await page.getByLabel('Received until').fill(last);
    await page.waitForURL(/to=/);
    await page.getByRole('button', { name: /^Export/ }).click();
    const { name, bytes } = await savedFile(page, () =>
      dialogOf(page).getByRole('button', { name: 'Save the file' }).click(),
    );
    expect(name).toMatch(/\.xlsx$/);
    const expected = await one(
      `select count(*)::int as count from packages where tenant_id = $1 and received_at >= $2::date
       and received_at < $3::date + 1`,
      [DEMO.tenants.demo, first, last],
    );
    expect(readWorkbook(bytes)).toHaveLength(Number(expected?.['count']) + 1);
  },
});

task(suite, {
  title: 'sees who has changed the weight of a parcel, and from what to what',
  user,
  most: 3,
  prepare: async () => {
    const parcels = makeParcels(service());
    changed.number = newNumber();
    const id = await parcels.receive(changed.number, { user_code: 'IEX-1001', weight: 325 });
    const { status } = await service().call('updatePackage', {
      as: 'warehouse',
      body: { package_id: id, weight: 3.25 },
    });
    expect(status).toBe(200);
  },
  work: async (page) => {
    await choose(page, 'Parcels');
    await page
      .getByLabel(/^Number/)
      .first()
      .fill(changed.number);
    await rowOf(page, changed.number.slice(-8)).getByRole('link').first().click();
    const changes = page.getByRole('region', { name: 'Changes' });
    const change = changes.getByRole('row').filter({ hasText: 'Weight (lb): 325.000 → 3.250' });
    await change.getByText('Demo Warehouse').waitFor();
  },
});

const changed = { number: '' };

task(suite, {
  title: 'a new colleague starts: makes a user of the warehouse',
  user,
  most: 4,
  work: async (page) => {
    await choose(page, 'Team');
    await page.getByRole('button', { name: 'New user' }).click();
    await dialogOf(page).getByLabel('User name').fill('dana');
    await dialogOf(page).getByLabel('Full name').fill('Dana Dock');
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    const password = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await rowOf(page, 'Dana Dock').waitFor();
    const login = await service().call('login', { body: { action: 'login', username: 'dana', password } });
    expect(login.body['data'].user).toMatchObject({ role: 'warehouse', must_change_password: true });
  },
});

task(suite, {
  title: 'adds the customers of a courier from an Excel file',
  user,
  most: 8,
  work: async (page) => {
    await choose(page, 'Customers');
    await page.getByRole('button', { name: 'Import customers' }).click();
    const dialog = dialogOf(page);
    await dialog.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    await dialog.getByLabel('File').setInputFiles({
      name: 'customers.xlsx',
      mimeType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
      buffer: textWorkbook([
        ['user_code', 'first_name', 'last_name'],
        ['IEX-XL1', 'Ada', 'Byron'],
      ]),
    });
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByRole('button', { name: 'Import now (1)' }).click();
    await toasts(page).getByText('Imported. New: 1. Changed: 0.').waitFor();
    const stored = 'select first_name, last_name from customers where tenant_id = $1 and user_code = $2';
    expect(await one(stored, [DEMO.tenants.demo, 'IEX-XL1'])).toEqual({
      first_name: 'Ada',
      last_name: 'Byron',
    });
  },
});

task(suite, {
  title: 'resets the password of a colleague, and disables another who has left',
  user,
  most: 8,
  prepare: async () => {
    for (const username of ['forgetful', 'gone'])
      await service().call('manageTeam', { as: 'manager', body: newUser(username) });
  },
  work: async (page) => {
    await choose(page, 'Team');
    await rowOf(page, 'forgetful').click();
    await page.getByRole('button', { name: 'Reset the password' }).click();
    await dialogOf(page).getByRole('button', { name: 'Reset the password' }).click();
    const password = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await rowOf(page, 'gone').click();
    await page.getByRole('button', { name: 'Disable the user' }).click();
    await dialogOf(page).getByRole('button', { name: 'Disable the user' }).click();
    await page.getByRole('button', { name: 'Enable the user' }).waitFor();
    const body = { action: 'login', username: 'forgetful', password };
    expect((await service().call('login', { body })).status).toBe(200);
    const state = 'select is_active from users where tenant_id = $1 and username = $2';
    expect(await one(state, [DEMO.tenants.demo, 'gone'])).toEqual({ is_active: false });
  },
});

const newUser = (username: string) => ({
  action: 'create',
  username,
  full_name: `User ${username}`,
  role: 'warehouse',
  current_password: DEMO.password,
});

task(suite, {
  title: 'sees for how long parcels have been in the warehouse, and opens those of 30 days or more',
  user,
  most: 1,
  work: async (page) => {
    const { count } =
      (await one(
        `select count(*)::int as count from packages where tenant_id = $1 and status in ('received', 'on_hold', 'customs_hold')
         and received_at <= now() - interval '30 days'`,
        [DEMO.tenants.demo],
      )) ?? {};
    const row = page.getByRole('row', { name: /^30 – 59/ });
    await row.getByRole('link', { name: String(count) }).click();
    await page
      .getByTestId('list-total')
      .getByText(`Records: ${String(count)}`)
      .waitFor();
  },
});
