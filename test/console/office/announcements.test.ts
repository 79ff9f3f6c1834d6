import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';

const { it, service } = consoleSuite();

type Row = Record<string, unknown>;

const announcement = async (number: string, courier: keyof typeof DEMO.couriers = 'IEX') => {
  const { rows } = await service().owner.query<Row>(
    `select user_code, vendor, description, status from prealerts
     where tenant_id = $1 and courier_id = $2 and tracking_number = $3`,
    [DEMO.tenants.demo, DEMO.couriers[courier], number],
  );
  return rows[0];
};

/** An announcement that no other test changes. */
const pendingOfIex = async () => {
  const { rows } = await service().owner.query<{ tracking_number: string; user_code: string }>(
    `select tracking_number, user_code from prealerts
     where tenant_id = $1 and courier_id = $2 and status = 'pending' order by id desc limit 1`,
    [DEMO.tenants.demo, DEMO.couriers.IEX],
  );
  if (!rows[0]) throw new Error('The demo data have no such announcement.');
  return rows[0];
};

const toasts = (page: Page) => page.getByTestId('toasts');
const rows = (page: Page) => page.locator('.grid tbody tr');
const open = async (page: Page, path = '') => {
  await page.goto(`${service().url}/console/announcements${path}`);
};

it(
  'an announcement is found, edited, and the edit is undone',
  async (page) => {
    const number = DEMO.announcedNumber;
    await open(page);
    await page.getByLabel('Number, user code, name or vendor').fill(number);
    await page.getByText('Records: 1', { exact: true }).waitFor();
    const before = await announcement(number);
    await rows(page).first().click();
    const panel = page.getByRole('complementary', { name: number });
    await panel.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit the announcement' });
    await dialog.getByLabel('User code').fill('NOBODY');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('[name=user_code][aria-invalid=true]').waitFor();
    await dialog.getByLabel('User code').fill('IEX-1005');
    await dialog.getByLabel('Contents (optional)').fill('Four books');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await panel.getByText('Four books').waitFor();
    expect(await announcement(number)).toMatchObject({ user_code: 'IEX-1005', description: 'Four books' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await announcement(number)).toEqual(before);
    // The new number is the address of the same announcement.
    await panel.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Number').fill('1Z999AA10123456784');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('complementary', { name: '1Z999AA10123456784' }).waitFor();
    expect(await page.evaluate('location.pathname')).toBe('/console/announcements/1Z999AA10123456784');
  },
  'manager',
);

it(
  'a parcel is announced for a customer of any courier, undone, and taken back after a question',
  async (page) => {
    const number = '1Z999AA10123456000';
    const dialog = page.getByRole('dialog', { name: 'Announce a parcel' });
    const announce = async () => {
      await page.getByRole('button', { name: 'Announce a parcel' }).click();
      await dialog.getByLabel('Number').fill(number);
      await dialog.getByRole('combobox', { name: 'Customer' }).fill('HRB-2001');
      await dialog.getByRole('option', { name: /HRB-2001/ }).click();
      await dialog.getByLabel('Vendor').fill('Example Shoes');
      await dialog.getByRole('button', { name: 'Announce', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await open(page);
    await announce();
    expect(await announcement(number, 'HRB')).toMatchObject({ user_code: 'HRB-2001', status: 'pending' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await announcement(number, 'HRB')).toBe(undefined);
    await announce();
    await rows(page).filter({ hasText: number }).click();
    const panel = page.getByRole('complementary', { name: number });
    await panel.getByRole('button', { name: 'Take back' }).click();
    const question = page.getByRole('dialog', { name: `Take back ${number}` });
    await question
      .getByText('The announcement of Harbour Couriers for HRB-2001 is deleted for ever')
      .waitFor();
    // The focus is on the harmless button.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    expect(await announcement(number, 'HRB')).toMatchObject({ user_code: 'HRB-2001' });
    await panel.getByRole('button', { name: 'Take back' }).click();
    await question.getByRole('button', { name: 'Take back' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(await announcement(number, 'HRB')).toBe(undefined);
  },
  'manager',
);

it(
  'a flagged announcement names the others of its number, and its review clears the flag',
  async (page) => {
    await open(page);
    await page.getByRole('link', { name: /^Flagged: \d/ }).click();
    await page.waitForURL(/status=flagged/);
    const flagged = rows(page).filter({ hasText: 'Flagged' }).first();
    const number = (await flagged.getByRole('link').textContent()) ?? '';
    await page.goto(`${service().url}/console/announcements/${number}`);
    const panel = page.getByRole('complementary', { name: number });
    await panel.getByText('Several couriers have announced this number.').waitFor();
    await panel.getByRole('link', { name: /^Island Express/ }).click();
    await panel.getByText('The same number, announced by others').waitFor();
    await panel.getByRole('link', { name: /^Harbour Couriers/ }).waitFor();
    await panel.getByRole('button', { name: 'Review' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('The name is on the label.');
    await dialog.getByRole('button', { name: 'Clear the flag' }).click();
    await dialog.waitFor({ state: 'detached' });
    await toasts(page).getByText(number).waitFor();
    expect((await announcement(number))?.['status']).not.toBe('flagged');
    expect((await announcement(number, 'HRB'))?.['status']).toBe('flagged');
  },
  'manager',
);

it(
  'a file is checked before it is stored, and names the rows that are wrong and those of other customers',
  async (page) => {
    await open(page);
    await page.getByRole('button', { name: 'Upload announcements' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload announcements' });
    const choose = (text: string) =>
      dialog.getByLabel('File').setInputFiles({
        name: 'announcements.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`Tracking Number;Mailbox;Shop\n${text}`),
      });
    await dialog.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Island Express' });
    await choose('1Z999AA10123456001;NOBODY;Example\n');
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    await dialog.getByText(/^Row 2, user_code: /).waitFor();
    const { tracking_number: known, user_code: other } = await pendingOfIex();
    const own = other === 'IEX-1009' ? 'IEX-1010' : 'IEX-1009';
    await choose(`1Z999AA10123456001;IEX-1003;Example\n${known};${own};Example\n`);
    await dialog.getByRole('button', { name: 'Check the file' }).click();
    const result = dialog.getByTestId('import-result');
    await result.getByText('Nothing is stored yet').waitFor();
    await result.getByText('Mailbox').waitFor();
    await result.getByText(`Row 3: belongs to ${other}`).waitFor();
    expect(await announcement('1Z999AA10123456001')).toBe(undefined);
    await dialog.getByRole('button', { name: 'Announce now (1)' }).click();
    await dialog.waitFor({ state: 'detached' });
    await toasts(page).getByText('Announced: 1. Known before: 1.').waitFor();
    expect(await announcement('1Z999AA10123456001')).toMatchObject({ user_code: 'IEX-1003' });
    expect(await announcement(known)).toMatchObject({ user_code: other });
  },
  'manager',
);
