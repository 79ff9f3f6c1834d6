import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { countClicks } from '../../support/console/clicks.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';
import { choose, dialogOf, rowOf, task, toasts } from './trial.js';

// What the owner of a courier does, without another program: the tasks of the trial of the console, each with its clicks.

const suite = consoleSuite();
const { service } = suite;
const user = 'iex';

const one = async (text: string, values: unknown[]) =>
  (await service().owner.query<Record<string, unknown>>(text, values)).rows[0];

const settings = async () =>
  (await service().call('getCourierSettings', { as: 'iex' })).body['data'] as Record<string, string | null>;

const parcel = { number: '', house: '' };
const receive = async (row: object) => {
  parcel.number = newNumber();
  const parcels = makeParcels(service());
  const id = await parcels.receive(parcel.number, row);
  parcel.house = String((await parcels.packageRow(id))['house_number']);
};

task(suite, {
  title: 'sees the parcels of today',
  user,
  most: 2,
  prepare: () => receive({ user_code: 'IEX-1001' }),
  work: async (page) => {
    await choose(page, 'My parcels');
    await page.getByLabel('Received from').fill(new Date().toISOString().slice(0, 10));
    await rowOf(page, parcel.house).waitFor();
    const { count } = (await one(
      `select count(*)::int as count from packages where courier_id = $1 and received_at >= now()::date`,
      [DEMO.couriers.IEX],
    )) as { count: number };
    await page.getByText(`Records: ${count}`, { exact: true }).waitFor();
  },
});

task(suite, {
  title: 'finds a parcel by a name, and sees where it is',
  user,
  most: 2,
  prepare: () => receive({ user_code: 'IEX-1003' }),
  work: async (page) => {
    await choose(page, 'My parcels');
    await page.getByLabel('Number, house no., code or name').fill('Keisha Powell');
    await rowOf(page, parcel.house).click();
    const panel = page.getByRole('complementary', { name: parcel.house });
    await panel.getByRole('region', { name: 'History' }).getByText('Received').first().waitFor();
  },
});

task(suite, {
  title: 'announces a parcel',
  user,
  most: 4,
  work: async (page) => {
    const number = newNumber();
    await choose(page, 'Announce');
    await page.getByRole('textbox', { name: 'Number', exact: true }).fill(number);
    await page.getByRole('combobox', { name: 'Customer' }).fill(CUSTOMERS.IEX);
    await page.getByRole('option', { name: CUSTOMERS.IEX }).click();
    await page.getByLabel('Vendor').first().fill('Example Books');
    await page.getByRole('button', { name: 'Announce', exact: true }).click();
    await rowOf(page, number.slice(-8)).waitFor();
  },
});

task(suite, {
  title: 'announces 20 parcels with a file, after a look at what it would do',
  user,
  most: 6,
  work: async (page) => {
    const numbers = Array.from({ length: 20 }, () => newNumber());
    await choose(page, 'Announce');
    await page.getByRole('button', { name: 'Upload a file' }).click();
    await dialogOf(page)
      .getByLabel('File')
      .setInputFiles({
        name: 'parcels.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(
          ['Tracking Number;Mailbox', ...numbers.map((number) => `${number};IEX-1001`)].join('\r\n'),
        ),
      });
    await dialogOf(page).getByRole('button', { name: 'Check' }).click();
    await dialogOf(page).getByRole('button', { name: 'Announce now (20)' }).click();
    await toasts(page).getByText('Parcels announced: 20.').waitFor();
    expect(
      await one('select count(*)::int as count from prealerts where tracking_number = any($1)', [numbers]),
    ).toEqual({ count: 20 });
  },
});

task(suite, {
  title: 'reads why a parcel has no customer, and says whose it is',
  user,
  most: 4,
  prepare: () => receive({ courier_id: DEMO.couriers.IEX }),
  work: async (page) => {
    await choose(page, 'Unknown');
    await rowOf(page, parcel.house)
      .getByRole('button', { name: /It is for/ })
      .click();
    await dialogOf(page).getByRole('combobox', { name: 'Customer' }).fill(CUSTOMERS.IEX);
    await dialogOf(page).getByRole('option', { name: CUSTOMERS.IEX }).click();
    await dialogOf(page)
      .getByRole('button', { name: `It is for ${CUSTOMERS.IEX}` })
      .click();
    await toasts(page).getByText(`Parcel ${parcel.house} is for ${CUSTOMERS.IEX}.`).waitFor();
  },
});

task(suite, {
  title: 'checks a bill against its parcels',
  user,
  most: 3,
  work: async (page) => {
    const { body } = await service().call('getCourierBill', {
      as: 'iex',
      query: { bill_id: DEMO.bills.paid, limit: 100 },
    });
    const { invoice_number, lines } = body['data'];
    await choose(page, 'Bills');
    await page.getByRole('link', { name: invoice_number }).click();
    await page
      .getByRole('region', { name: 'Lines' })
      .getByRole('link', { name: lines[0].house_number })
      .click();
    await page
      .getByRole('complementary', { name: lines[0].house_number })
      .getByRole('link', { name: invoice_number })
      .waitFor();
  },
});

task(suite, {
  title: 'saves a bill as a PDF',
  user,
  most: 3,
  work: async (page) => {
    await choose(page, 'Bills');
    await page.getByRole('link', { name: /^INV-/ }).first().click();
    const { bytes } = await savedFile(page, () => page.getByRole('button', { name: 'PDF' }).click());
    expect(bytes.subarray(0, 5).toString('latin1')).toBe('%PDF-');
  },
});

task(suite, {
  title: 'sees what it owes, and for how long',
  user,
  most: 2,
  work: async (page) => {
    await choose(page, 'Bills');
    await page.getByRole('link', { name: 'Statement' }).click();
    await page.getByText('More than 90 days').waitFor();
  },
});

task(suite, {
  title: 'renews its API key, and sees it',
  user,
  most: 4,
  work: async (page) => {
    const before = (await settings())['api_key'];
    await choose(page, 'Developers');
    await page.getByRole('button', { name: 'Make a new key' }).click();
    await dialogOf(page).getByRole('button', { name: 'Make a new key' }).click();
    const made = await dialogOf(page).getByTestId('secret').textContent();
    await dialogOf(page).getByRole('button', { name: 'I have stored it' }).click();
    expect([made === before, (await settings())['api_key']]).toEqual([false, made]);
  },
});

task(suite, {
  title: 'replaces its logo',
  user,
  most: 3,
  work: async (page) => {
    await choose(page, 'Profile');
    await page.getByLabel(/Replace the logo|Upload a logo/).setInputFiles({
      name: 'logo.svg',
      mimeType: 'image/svg+xml',
      buffer: Buffer.from(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle cx="4" cy="4" r="4"/></svg>',
      ),
    });
    await toasts(page).getByText('The logo is stored.').waitFor();
  },
});

task(suite, {
  title: 'sees its customers, and adds some with a file',
  user,
  most: 6,
  work: async (page) => {
    await choose(page, 'Customers');
    await rowOf(page, 'IEX-1').first().waitFor();
    await page.getByRole('button', { name: 'Import customers' }).click();
    await dialogOf(page)
      .getByLabel('File')
      .setInputFiles({
        name: 'customers.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from('user_code,first_name,last_name\nIEX-8001,Ada,Byron\nIEX-8002,Mary,Jackson\n'),
      });
    await dialogOf(page).getByRole('button', { name: 'Check the file' }).click();
    await dialogOf(page).getByRole('button', { name: 'Import now (2)' }).click();
    await toasts(page).getByText('Imported. New: 2. Changed: 0.').waitFor();
  },
});

task(suite, {
  title: 'gives a colleague a user of its own',
  user,
  most: 4,
  work: async (page) => {
    await choose(page, 'Team');
    await page.getByRole('button', { name: 'New user' }).click();
    await dialogOf(page).getByLabel('User name').fill('iex.cora');
    await dialogOf(page).getByLabel('Full name').fill('Cora Colleague');
    await dialogOf(page).getByRole('button', { name: 'Create' }).click();
    const password = (await page.getByTestId('secret').textContent()) ?? '';
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await rowOf(page, 'Cora Colleague').waitFor();
    const login = await service().call('login', {
      body: { action: 'login', username: 'iex.cora', password },
    });
    expect(login.body['data'].user).toMatchObject({ courier_code: 'IEX', must_change_password: true });
  },
});

task(suite, {
  title: 'sets the address of its webhooks',
  user,
  most: 5,
  work: async (page) => {
    await choose(page, 'Developers');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('button', { name: /^(Set|Change) the address New packages/ }).click();
    await dialogOf(page).getByLabel('Address').fill('https://hooks.island.example/new');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await page.getByText('https://hooks.island.example/new').waitFor();
    expect((await settings())['api_url_add_package']).toBe('https://hooks.island.example/new');
  },
});

/** The clicks from the page of the login on. */
suite.runs('begins with a one-time password, and chooses its own: at most 2 clicks', async () => {
  const body = {
    action: 'create',
    username: 'iex.begins',
    full_name: 'Ben Beginner',
    role: 'courier',
    courier_role: 'owner',
  };
  const created = await service().call('manageTeam', { as: 'iex', body });
  const oneTime = String(created.body['data'].one_time_password);
  const { page } = await suite.open();
  const clicks = await countClicks(page);
  await page.getByLabel('User name').fill('iex.begins');
  await page.getByLabel('Password').fill(oneTime);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Password that you logged in with').fill(oneTime);
  await page.getByLabel('New password', { exact: true }).fill('seven parcels on a wet quay');
  await page.getByLabel('New password again').fill('seven parcels on a wet quay');
  await page.getByRole('button', { name: 'Save the password' }).click();
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  expect(clicks()).toBe(2);
});
