import { readFileSync } from 'node:fs';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { makeParcels, newNumber, shipPackages } from '../../support/builders/parcels.js';
import { consoleSuite } from '../../support/console/suite.js';
import { makeApi } from '../../support/fixture/api.js';

// The parcels of a courier: filters, search, export, and one parcel.

const { it, service } = consoleSuite();

const pathOf = (page: Page) => page.evaluate<string>('location.pathname + location.search + location.hash');
const rows = (page: Page) => page.locator('.grid tbody tr');
const open = (page: Page, path: string) => page.evaluate(`location.hash = '#/${path}'`);

it(
  'a courier finds a parcel by a part of its number, and the address keeps the search and the filters',
  async (page) => {
    const number = newNumber();
    await makeParcels(service()).receive(number, { user_code: 'IEX-1001', shipper: 'Example Books' });
    await open(page, 'parcels');
    await rows(page).first().waitFor();
    await page.getByLabel('Number, house no., code or name').fill(number.slice(-9));
    await page.getByText('Records: 1', { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Received');
    await page.getByRole('button', { name: /Status: Received/ }).waitFor();
    await page.getByRole('textbox', { name: 'Vendor' }).fill('Example');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /Vendor: Example/ }).waitFor();
    const address = await pathOf(page);
    expect(address).toBe(`/console#/parcels?search=${number.slice(-9)}&status=received&shipper=Example`);
    await page.reload();
    await rows(page)
      .filter({ hasText: number.slice(-8) })
      .waitFor();
    expect(await rows(page).count()).toBe(1);
    await page.getByRole('combobox', { name: 'Status' }).selectOption('Lost');
    await page.getByText('Nothing matches the search and the filters').waitFor();
    await page.goBack();
    await rows(page)
      .filter({ hasText: number.slice(-8) })
      .waitFor();
  },
  'iex',
);

it(
  'a row opens its parcel beside the list: flight, bill and history; Escape closes it',
  async (page) => {
    const number = newNumber();
    const parcels = makeParcels(service());
    const id = await parcels.receive(number, { user_code: 'IEX-1001' });
    const { manifestNumber } = await shipPackages(makeApi(service), [id]);
    const { house_number } = await parcels.packageRow(id);
    const house = String(house_number);
    await open(page, `parcels?search=${number}`);
    await rows(page).filter({ hasText: house }).click();
    const panel = page.getByRole('complementary', { name: house });
    await panel.getByText(manifestNumber).waitFor();
    await panel.getByText('On no bill yet.').waitFor();
    await panel.getByRole('region', { name: 'History' }).getByText('Shipped').waitFor();
    expect(await pathOf(page)).toBe(`/console#/parcels/${house}?search=${number}`);
    await panel.getByRole('link', { name: 'My parcels on it' }).click();
    await page.getByText('Records: 1', { exact: true }).waitFor();
    await page.goBack();
    await panel.waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    // Of another courier.
    const other = await parcels.packageRow(DEMO.packages.available.HRB[0] ?? '');
    await open(page, `parcels/${String(other['house_number'])}`);
    await page.getByRole('complementary').getByRole('alert').waitFor();
  },
  'iex',
);

it(
  'the export has all packages that match, not only those on the screen',
  async (page) => {
    await open(page, 'parcels');
    await rows(page).first().waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all (CSV)' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    const { rows: counted } = await service().owner.query<{ count: number }>(
      'select count(*)::int as count from packages where courier_id = $1',
      [DEMO.couriers.IEX],
    );
    expect(lines.length - 1).toBe(counted[0]?.count);
    expect(lines.length).toBeGreaterThan(await rows(page).count());
    expect(lines[0]).toMatch(/^User Code,Package ID,/);
    const [sheet] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all (Excel)' }).click(),
    ]);
    expect(sheet.suggestedFilename()).toMatch(/\.xlsx$/);
  },
  'iex',
);

it(
  'the export of several statuses is one file of what is shown, in its order',
  async (page) => {
    const [first, second] = DEMO.packages.available.IEX;
    for (const [id, status] of [
      [first, 'on_hold'],
      [second, 'customs_hold'],
    ])
      await service().owner.query('update packages set status = $2 where id = $1', [id, status]);
    const { rows: held } = await service().owner.query<{ house: string }>(
      `select house_number as house from packages where courier_id = $1 and status in ('on_hold', 'customs_hold')
       order by weight_lb, id`,
      [DEMO.couriers.IEX],
    );
    await open(page, 'parcels?status=on_hold%2Ccustoms_hold&sort=weight');
    await page.getByText(`Records: ${held.length}`, { exact: true }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export all (CSV)' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^packages-.*\.csv$/);
    const [, ...lines] = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(held.length).toBeGreaterThan(1);
    expect(lines.map((line) => held.findIndex(({ house }) => line.includes(house)))).toEqual(
      held.map((_, index) => index),
    );
  },
  'iex',
);
