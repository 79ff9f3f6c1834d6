import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { makeParcels, newNumber } from '../../support/builders/parcels.js';
import { consoleSuite } from '../../support/console/suite.js';

// Announcements of a courier: lines, a file, edit and take back.

const { it, service } = consoleSuite();

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const dialogOf = (page: Page) => page.getByRole('dialog');
const toasts = (page: Page) => page.getByTestId('toasts');

type Row = { user_code: string; vendor: string | null; description: string | null };

const announced = async (number: string): Promise<Row[]> =>
  (
    await service().owner.query<Row>(
      'select user_code, vendor, description from prealerts where tracking_number = $1',
      [number],
    )
  ).rows;

it(
  'lines are checked, with their wrong rows, and announced only after the person has confirmed',
  async (page) => {
    const [first, second] = [newNumber(), newNumber()];
    await open(page, 'announce');
    await page.getByRole('button', { name: 'Paste lines' }).click();
    const lines = dialogOf(page).getByLabel('One parcel per line');
    await lines.fill(`${first}\tIEX-1001\tExample Books\n${second}\tNO-SUCH-CODE`);
    await dialogOf(page).getByRole('button', { name: 'Check' }).click();
    // The second line, although the file has a header.
    await dialogOf(page)
      .getByRole('alert')
      .getByText(/^Row 2, user_code/)
      .waitFor();
    await lines.fill(`${first}\tIEX-1001\tExample Books\n${second}`);
    await dialogOf(page).getByRole('combobox').fill('IEX-1002');
    await dialogOf(page).getByRole('option', { name: 'IEX-1002' }).click();
    await dialogOf(page).getByRole('button', { name: 'Check' }).click();
    await dialogOf(page).getByTestId('check-result').getByText('Everything can be announced').waitFor();
    expect([...(await announced(first)), ...(await announced(second))]).toEqual([]);
    await dialogOf(page).getByRole('button', { name: 'Announce now (2)' }).click();
    await toasts(page).getByText('Parcels announced: 2.').waitFor();
    expect(await announced(first)).toEqual([
      { user_code: 'IEX-1001', vendor: 'Example Books', description: null },
    ]);
    expect(await announced(second)).toMatchObject([{ user_code: 'IEX-1002' }]);
    await page
      .getByRole('row')
      .filter({ hasText: second.slice(-8) })
      .waitFor();
  },
  'iex',
);

it(
  'a file is checked first, and says which numbers are announced for somebody else',
  async (page) => {
    const [fresh, known] = [newNumber(), newNumber()];
    await makeParcels(service()).announce('IEX', known);
    await open(page, 'announce');
    await page.getByRole('button', { name: 'Upload a file' }).click();
    await dialogOf(page)
      .getByLabel('File')
      .setInputFiles({
        name: 'parcels.csv',
        mimeType: 'text/csv',
        buffer: Buffer.from(`Tracking Number;Mailbox\r\n${fresh};IEX-1001\r\n${known};IEX-1002\r\n`),
      });
    await dialogOf(page).getByRole('button', { name: 'Check' }).click();
    const result = dialogOf(page).getByTestId('check-result');
    await result.getByText('Row 3: for IEX-1001 (Expected)').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Announce now (1)' }).click();
    await toasts(page).getByText('Parcels announced: 1.').waitFor();
    expect(await announced(fresh)).toMatchObject([{ user_code: 'IEX-1001' }]);
    expect(await announced(known)).toMatchObject([{ user_code: 'IEX-1001' }]);
  },
  'iex',
);

it(
  'an announcement is found, edited, undone and taken back',
  async (page) => {
    const number = newNumber();
    const id = await makeParcels(service()).announce('IEX', number);
    await open(page, 'announce');
    await page.getByLabel('Number, code, name or vendor').fill(number);
    await page.getByText('Records: 1', { exact: true }).waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: number.slice(-8) })
      .getByRole('link')
      .click();
    const panel = page.getByRole('complementary', { name: number });
    await panel.getByRole('button', { name: 'Edit', exact: true }).click();
    await dialogOf(page).getByLabel('User code').fill('NO-SUCH-CODE');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await dialogOf(page).locator('[name=user_code][aria-invalid=true]').waitFor();
    await dialogOf(page).getByLabel('User code').fill('IEX-1002');
    await dialogOf(page).getByLabel('Contents (optional)').fill('Two books');
    await dialogOf(page).getByRole('button', { name: 'Save' }).click();
    await dialogOf(page).waitFor({ state: 'detached' });
    await panel.getByText('Two books').waitFor();
    expect(await announced(number)).toMatchObject([{ user_code: 'IEX-1002', description: 'Two books' }]);
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await announced(number)).toMatchObject([{ user_code: 'IEX-1001', description: null }]);
    await panel.getByRole('button', { name: 'Take back' }).click();
    await dialogOf(page).getByText('deleted for ever').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Take back' }).click();
    await toasts(page).getByText(`${number} is no longer announced.`).waitFor();
    expect(await announced(number)).toEqual([]);
    await open(page, `announce/${id}`);
    await page.getByText('This announcement is not on this page of the list').waitFor();
  },
  'iex',
);
