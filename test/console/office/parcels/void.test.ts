import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

let serial = 0;

/** Receives a parcel at the present time. Returns its numbers. */
async function receive(): Promise<{ number: string; house: string; id: string }> {
  const number = `VOID-${(serial += 1)}-0O1IL`;
  const body = { tracking_number: number, weight: 2, user_code: 'IEX-1001' };
  const { data } = (await service().call('receivePackage', { as: 'warehouse', body })).body;
  return { number, house: String(data.house_number), id: String(data.package_id) };
}

const isStored = async (id: string): Promise<boolean> =>
  (await service().owner.query('select from packages where id = $1', [id])).rows.length === 1;

/** Says why, after the service was told nothing without a reason. */
async function confirm(page: Page, { house, id }: { house: string; id: string }): Promise<void> {
  const dialog = page.getByRole('dialog', { name: new RegExp(`^${house}`) });
  await dialog.getByText('This cannot be undone.', { exact: false }).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Void the receipt', exact: true }).click();
  await dialog.getByText('Say why.').waitFor();
  expect(await isStored(id)).toBe(true);
  await dialog.getByLabel('Why is the receipt void?').fill('The shelf was scanned.');
  // Enter in the field does what the button does.
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
}

it(
  'a manager voids a receipt on the page of the parcel, and is back at the list',
  async (page) => {
    const parcel = await receive();
    await page.goto(`${service().url}/console/parcels/${parcel.house}`);
    await page.getByRole('button', { name: 'Void the receipt …' }).click();
    await confirm(page, parcel);
    await page.getByTestId('toasts').getByText(`The receipt of ${parcel.number} is void.`).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Parcels' }).waitFor();
    expect(await isStored(parcel.id)).toBe(false);
    const { rows } = await service().owner.query(
      "select remarks from audit_entries where action = 'package.voided' and entity_id = $1",
      [parcel.id],
    );
    expect(rows).toEqual([{ remarks: 'The shelf was scanned.' }]);
  },
  'manager',
);

it('a worker voids it where parcels are found, and can cancel', async (page) => {
  const parcel = await receive();
  await page.getByRole('link', { name: 'Find' }).first().click();
  await page.getByLabel('Code, number, customer or name').fill(parcel.number);
  await page.keyboard.press('Enter');
  const open = page.getByRole('button', { name: 'Void the receipt …' });
  await open.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  expect(await isStored(parcel.id)).toBe(true);
  await open.click();
  await confirm(page, parcel);
  await page.getByText(`The receipt of ${parcel.number} is void.`).waitFor();
  expect(await isStored(parcel.id)).toBe(false);
});

it('what keeps a receipt is said, and the dialog stays', async (page) => {
  const parcel = await receive();
  await service().owner.query("update packages set received_at = now() - interval '2 days' where id = $1", [
    parcel.id,
  ]);
  await page.getByRole('link', { name: 'Find' }).first().click();
  await page.getByLabel('Code, number, customer or name').fill(parcel.number);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Void the receipt …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why is the receipt void?').fill('Too late');
  await page.keyboard.press('Enter');
  await dialog.getByText('Ask a manager', { exact: false }).waitFor();
  expect(await dialog.getByLabel('Why is the receipt void?').inputValue()).toBe('Too late');
  expect(await isStored(parcel.id)).toBe(true);
});

it(
  'is not offered for a parcel on a manifest or with another status',
  async (page) => {
    for (const id of [DEMO.packages.aboardDraft.IEX[0], DEMO.packages.shipped.IEX[0]]) {
      const { rows } = await service().owner.query('select house_number from packages where id = $1', [id]);
      await page.goto(`${service().url}/console/parcels/${String(rows[0].house_number)}`);
      await page.getByRole('button', { name: 'Correct', exact: true }).waitFor();
      expect(await page.getByRole('button', { name: 'Void the receipt …' }).count()).toBe(0);
    }
  },
  'manager',
);
