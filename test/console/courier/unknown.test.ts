import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { CUSTOMERS, insertClaim, makeParcels, newNumber } from '../../support/builders/parcels.js';
import { consoleSuite } from '../../support/console/suite.js';

// The parcels of a courier whose customer nobody knows, and its claims.

const { it, service } = consoleSuite();

const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);
const dialogOf = (page: Page) => page.getByRole('dialog');
const toasts = (page: Page) => page.getByTestId('toasts');

/** Receives a parcel of the courier without a customer. */
async function receiveUnknown() {
  const number = newNumber();
  const parcels = makeParcels(service());
  const id = await parcels.receive(number, { courier_id: DEMO.couriers.IEX });
  const row = await parcels.packageRow(id);
  return { number, id, house: String(row['house_number']), row: () => parcels.packageRow(id) };
}

const chooseCustomer = async (page: Page) => {
  await dialogOf(page).getByRole('combobox', { name: 'Customer' }).fill(CUSTOMERS.IEX);
  await dialogOf(page).getByRole('option', { name: CUSTOMERS.IEX }).click();
};

it(
  'a courier sees the masked number of a parcel without a customer, and says whose it is',
  async (page) => {
    const { number, house, row } = await receiveUnknown();
    await open(page, 'unknown');
    const shown = page.getByRole('row').filter({ hasText: house });
    await shown.getByText(number.slice(-4)).waitFor();
    expect(await page.content()).not.toContain(number);
    await shown.getByRole('button', { name: /It is for/ }).click();
    await dialogOf(page).getByText('only the warehouse can take the customer away').waitFor();
    await chooseCustomer(page);
    await dialogOf(page)
      .getByRole('button', { name: `It is for ${CUSTOMERS.IEX}` })
      .click();
    await toasts(page).getByText(`Parcel ${house} is for ${CUSTOMERS.IEX}.`).waitFor();
    await shown.waitFor({ state: 'detached' });
    expect(await row()).toMatchObject({
      user_code: CUSTOMERS.IEX,
      first_name: 'Marcia',
      last_name: 'Campbell',
    });
    // The parcel has an address, and the whole number is visible now.
    await open(page, `parcels/${house}`);
    await page.getByRole('complementary', { name: house }).getByText(number.slice(-8)).waitFor();
  },
  'iex',
);

it(
  'a parcel that another courier claims stays as it is, and the page explains why',
  async (page) => {
    const { number, house, row } = await receiveUnknown();
    await insertClaim(service().owner, { courierId: DEMO.couriers.HRB, trackingNumber: number });
    await open(page, `unknown/${house}`);
    await page
      .getByRole('complementary', { name: house })
      .getByRole('button', { name: /It is for/ })
      .click();
    await chooseCustomer(page);
    await dialogOf(page)
      .getByRole('button', { name: `It is for ${CUSTOMERS.IEX}` })
      .click();
    await dialogOf(page).getByText('Nothing was changed. Somebody else says').waitFor();
    expect(await row()).toMatchObject({ user_code: null });
    await dialogOf(page).getByRole('link', { name: 'Claim a parcel' }).click();
    await page.getByRole('dialog', { name: 'Claim a parcel' }).waitFor();
  },
  'iex',
);

it(
  'a courier claims a parcel by its number, sees what the warehouse decides, and learns of the limit',
  async (page) => {
    await service().owner.query("delete from courier_quotas where kind = 'claim_attempts'");
    const [wrong, right] = [newNumber(), newNumber()];
    const parcels = makeParcels(service());
    await parcels.receive(right);
    const claim = async (number: string) => {
      await page.getByRole('button', { name: 'Claim a parcel' }).click();
      await dialogOf(page).getByText('You have 5 claims per hour').waitFor();
      await dialogOf(page).getByLabel('Whole tracking number').fill(number);
      await chooseCustomer(page);
      await dialogOf(page).getByRole('button', { name: 'Claim it' }).click();
    };
    await open(page, 'claims');
    for (const number of [wrong, right]) {
      await claim(number);
      await toasts(page).getByText(`The claim of ${number} is stored`).waitFor();
    }
    const rowOf = (number: string) => page.getByRole('row').filter({ hasText: number.slice(-8) });
    for (const number of [wrong, right]) await rowOf(number).getByText('Waits for the warehouse').waitFor();

    const ids = await parcels.select(
      'select id, tracking_number from parcel_claims where tracking_number = any($1)',
      [[wrong, right]],
    );
    const idOf = (number: string) =>
      String(ids.find(({ tracking_number }) => tracking_number === number)?.['id']);
    const decide = async (body: object) =>
      expect((await service().call('reviewParcelClaim', { as: 'warehouse', body })).status).toBe(200);
    await decide({ action: 'refuse', claim_id: idOf(wrong), reason: 'The label has another name.' });
    await decide({ action: 'approve', claim_id: idOf(right), reason: 'The invoice fits.' });
    await page.reload();
    await rowOf(wrong).getByText('Refused').waitFor();
    await rowOf(wrong).getByText('The label has another name.').waitFor();
    await rowOf(right).getByText('Approved').waitFor();
    await rowOf(right).getByRole('link').click();
    await page.getByRole('link', { name: 'See the parcel' }).click();
    await page.getByRole('complementary').getByText(CUSTOMERS.IEX).first().waitFor();

    await open(page, 'claims');
    for (let count = 2; count < 5; count += 1) {
      const number = newNumber();
      await claim(number);
      await toasts(page).getByText(`The claim of ${number} is stored`).waitFor();
    }
    await claim(newNumber());
    await dialogOf(page)
      .getByRole('alert')
      .getByText('Your 5 claims of this hour or your 20 changes of today are used')
      .waitFor();
  },
  'iex',
);
