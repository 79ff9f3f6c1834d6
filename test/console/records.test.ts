import { describe, expect } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import { findingsOf, scan, type } from '../support/console/browser.js';
import { consoleSuite, expectWord } from '../support/console/suite.js';

// What is no parcel, scans that a person must see, and links between records.

const { it, service } = consoleSuite({ worksOffline: true });

const numbersOf = async (numbers: string[]) =>
  (await service().owner.query('select from packages where tracking_number = any($1)', [numbers])).rowCount;

const topOf = async (element: Locator) => (await element.boundingBox())?.y;

describe('without a connection', () => {
  it('the number of a manifest is no parcel, and the code of a customer is refused when it is sent', async (page) => {
    const number = page.getByLabel('Number');
    const before = await topOf(number);
    await page.context().setOffline(true);
    await scan(page, 'MAN-20260101-ABCD');
    await expectWord(page, 'NOT A PARCEL');
    expect(await page.getByLabel('Weight (lb)').count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await scan(page, 'IEX-1001');
    await expectWord(page, 'WEIGH');
    await type(page, '1.5');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await page.context().setOffline(false);
    const attention = page.getByTestId('attention');
    await attention.waitFor();
    await expectWord(page, 'NOT A PARCEL');
    expect(await numbersOf(['IEX-1001', 'MAN-20260101-ABCD'])).toBe(0);
    // The panel is below the page, which has not moved.
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await topOf(number)).toBe(before);
    await attention.locator('summary').click();
    await attention.getByText('IEX-1001').first().waitFor();
    expect(await findingsOf(page)).toEqual([]);
    await attention.getByRole('button', { name: 'Dismiss' }).click();
    await attention.waitFor({ state: 'detached' });
  });
});

describe('links', () => {
  it('lead from a package to its manifest, and from a manifest to its packages', async (page) => {
    const { rows } = await service().owner.query<{ manifest: string; house: string }>(
      `select m.manifest_number as manifest, p.house_number as house from packages p
       join manifests m on m.tenant_id = p.tenant_id and m.id = p.manifest_id
       where p.tenant_id = $1 order by p.id limit 1`,
      [DEMO.tenants.demo],
    );
    const { manifest = '', house = '' } = rows[0] ?? {};
    await page.keyboard.press('Alt+3');
    await page.getByLabel('Code, number, customer or name').fill(house);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: manifest }).click();
    await page.getByRole('heading', { level: 1, name: manifest }).waitFor();
    await page.getByRole('button', { name: house, exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
    expect(await page.getByLabel('Code, number, customer or name').inputValue()).toBe(house);
    await page.getByRole('button', { name: house, exact: true }).waitFor();
  });

  it('an error below the search stands apart from it', async (page) => {
    await page.keyboard.press('Alt+3');
    await page.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
    await page.context().setOffline(true);
    await page.getByLabel('Code, number, customer or name').fill('anything');
    await page.keyboard.press('Enter');
    const problem = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await problem.waitFor({ timeout: 60_000 });
    const search = await page.getByRole('search').boundingBox();
    const bottom = (search?.y ?? 0) + (search?.height ?? 0);
    expect((await topOf(problem)) ?? 0).toBeGreaterThan(bottom + 4);
  });
});
