import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { savedFile } from '../../../support/console/saved-file.js';
import { consoleSuite } from '../../../support/console/suite.js';
import { until } from '../../../support/service/processes.js';

const { it, service } = consoleSuite();

type Row = Record<string, unknown>;

const packageOf = async (id: string | undefined): Promise<Row> => {
  const { rows } = await service().owner.query<Row>(
    `select house_number, tracking_number, weight_lb::float as weight, shipper, status from packages
     where tenant_id = $1 and id = $2`,
    [DEMO.tenants.demo, id],
  );
  return rows[0] ?? {};
};

/** Opens a parcel by its house number. */
async function open(page: Page, id: string | undefined): Promise<string> {
  const house = String((await packageOf(id))['house_number']);
  await page.goto(`${service().url}/console/parcels/${house}`);
  await page.getByRole('heading', { level: 1, name: house }).waitFor();
  return house;
}

const toasts = (page: Page) => page.getByTestId('toasts');
const [first, second, third, fourth] = DEMO.packages.available.IEX;

it(
  'a weight is corrected after its effects were named, and the undo restores it',
  async (page) => {
    const { weight } = await packageOf(first);
    const house = await open(page, first);
    await page.getByRole('button', { name: 'Correct', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Correct ${house}` });
    await dialog.getByLabel('Weight (lb)').fill('77,5');
    await dialog.getByLabel(/^Shipper/).fill('Quay Books');
    await dialog.getByRole('button', { name: 'Check the changes' }).click();
    const effects = dialog.getByTestId('effects');
    await effects.getByText(`Weight (lb): ${String(weight)} → 77,5`).waitFor();
    await effects.getByText('The next bill uses the new weight.').waitFor();
    // Nothing is stored before the person has seen this.
    expect(await packageOf(first)).toMatchObject({ weight });
    // Another value must be checked again.
    await dialog.getByLabel('Weight (lb)').fill('78.5');
    await effects.waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: 'Check the changes' }).click();
    await dialog.getByRole('button', { name: 'Save the changes (2)' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('78.50 lb').waitFor();
    expect(await packageOf(first)).toMatchObject({ weight: 78.5, shipper: 'Quay Books' });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await packageOf(first)).toMatchObject({ weight });
  },
  'manager',
);

it(
  'what cannot be stored is named at its field, and nothing that was typed is lost',
  async (page) => {
    const house = await open(page, first);
    await page.getByRole('button', { name: 'Correct', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: `Correct ${house}` });
    await dialog.getByLabel('Weight (lb)').fill('heavy');
    await dialog.getByRole('button', { name: 'Check the changes' }).click();
    await dialog.getByRole('alert').getByText('Measures are numbers above 0').waitFor();
    await dialog.getByLabel('Weight (lb)').fill('3.12345');
    await dialog.getByRole('button', { name: 'Check the changes' }).click();
    await dialog.getByRole('button', { name: 'Save the changes (1)' }).click();
    await dialog.locator('[name=weight][aria-invalid=true]').waitFor();
    expect(await dialog.getByLabel('Weight (lb)').inputValue()).toBe('3.12345');
    const { tracking_number } = await packageOf(second);
    await dialog.getByLabel('Weight (lb)').fill('3.5');
    await dialog.getByLabel('Number').fill(String(tracking_number));
    await dialog.getByRole('button', { name: 'Check the changes' }).click();
    await dialog.getByText('Announcements of the old number are expected again').waitFor();
    await dialog.getByRole('button', { name: /^Save the changes/ }).click();
    await dialog.locator('[name=tracking_number][aria-invalid=true]').waitFor();
  },
  'manager',
);

it(
  'is put on hold and released, and the history says by whom and where',
  async (page) => {
    await open(page, second);
    await page.getByRole('button', { name: 'Put on hold' }).click();
    const dialog = page.getByRole('dialog', { name: 'Put on hold' });
    await dialog.getByLabel(/^Where/).fill('Cage 2');
    await dialog.getByLabel(/^Remark/).fill('Wet box');
    await dialog.getByRole('button', { name: 'Put on hold (1)' }).click();
    const latest = page.getByTestId('timeline').locator('li').first();
    await latest.getByText('Cage 2 · Wet box').waitFor();
    expect(await latest.textContent()).toMatch(/On hold.*Recorded · Demo Manager/);
    await page.getByRole('button', { name: 'Release', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Release (1)' }).click();
    await page.getByRole('button', { name: 'Put on hold' }).waitFor();
    expect(await packageOf(second)).toMatchObject({ status: 'received' });
    // A received parcel cannot be delivered, so nobody is offered that.
    expect(await page.getByRole('button', { name: 'Delivered' }).count()).toBe(0);
  },
  'manager',
);

it(
  'has its label as a PDF, and its owner, bill and manifest as links',
  async (page) => {
    const house = await open(page, DEMO.packages.shipped.IEX[0]);
    const { name, bytes } = await savedFile(page, () =>
      page.getByRole('button', { name: 'Label as PDF' }).click(),
    );
    expect(name).toContain('.pdf');
    expect(bytes.subarray(0, 5).toString('latin1')).toBe('%PDF-');
    expect(house).not.toBe('');
    await page.getByRole('link', { name: /^MAN-/ }).waitFor();
    await page.getByRole('link', { name: /^IEX-1/ }).click();
    await page.getByRole('complementary', { name: /^IEX-1/ }).waitFor();
  },
  'manager',
);

it(
  'shows an administrator who has changed it',
  async (page) => {
    await service().call('updatePackage', {
      as: 'manager',
      body: { package_id: third, shipper: 'Harbour Books' },
    });
    await open(page, third);
    const changes = page.getByRole('region', { name: 'Changes' });
    await changes.getByText(/Shipper: .* → Harbour Books/).waitFor();
    await changes.getByText('Demo Manager', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Everything of this record' }).click();
    await page.waitForURL(new RegExp(`/console/audit\\?entity_id=${third}`));
  },
  'admin',
);

it(
  'shows a manager the changes without the audit log, and says so if there is no such parcel',
  async (page) => {
    await open(page, third);
    await page.getByTestId('timeline').waitFor();
    await page.getByRole('region', { name: 'Changes' }).getByText('Demo Manager').first().waitFor();
    expect(await page.getByRole('link', { name: 'Everything of this record' }).count()).toBe(0);
    await page.goto(`${service().url}/console/parcels/NOSUCH7`);
    await page.getByRole('alert').waitFor();
  },
  'manager',
);

it(
  'shows which webhooks the system of its courier gets',
  async (page) => {
    await service().owner.query(
      `update couriers set api_url_update_package = 'https://hooks.example/update' where tenant_id = $1 and id = $2`,
      [DEMO.tenants.demo, DEMO.couriers.IEX],
    );
    await service().call('recordPackageEvent', {
      as: 'manager',
      body: { package_id: fourth ?? '', status: 'on_hold' },
    });
    await until(async () => {
      const { body } = await service().call('listWebhookDeliveries', {
        as: 'manager',
        query: { package_id: fourth ?? '' },
      });
      return body['data'].length > 0;
    }, 30_000);
    await open(page, fourth);
    const webhooks = page.getByRole('region', { name: 'Webhooks of this parcel' });
    await webhooks.getByRole('row', { name: /package\.status_changed Waiting/ }).waitFor();
  },
  'manager',
);
