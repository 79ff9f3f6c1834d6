import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Locator } from 'playwright-core';
import { DEMO } from '../../fixtures/demo/seed.js';
import {
  chromiumPath,
  findingsOf,
  launchChromium,
  logIn,
  openConsole,
  outcomeOf,
  scan,
  type,
  type Window,
} from '../support/console/browser.js';
import { titleWith } from '../support/harness/programs.js';
import { startService, type Service } from '../support/service/service.js';

// What is no parcel, scans that a person must see, and links between records.

const LIMIT_MS = 120_000;
const runs = chromiumPath ? test : test.skip;
const it = (title: string, body: () => Promise<void>) =>
  runs(titleWith(title, [chromiumPath ? undefined : 'chromium']), body, LIMIT_MS);

let service: Service;
let browser: Browser;

beforeAll(async () => {
  if (!chromiumPath) return;
  service = await startService();
  browser = await launchChromium();
}, LIMIT_MS);

afterAll(async () => {
  if (!chromiumPath) return;
  await browser.close();
  await service.stop();
});

async function atWork(): Promise<Window> {
  const window = await openConsole(browser, service.url, { width: 1280, isQuiet: true });
  await logIn(window.page, 'warehouse', DEMO.password);
  await window.page.locator('.workplace').waitFor();
  return window;
}

const numbersOf = async (numbers: string[]) =>
  (await service.owner.query('select from packages where tracking_number = any($1)', [numbers])).rowCount;

const topOf = async (element: Locator) => (await element.boundingBox())?.y;

describe('without a connection', () => {
  it('the number of a manifest is no parcel, and the code of a customer is refused when it is sent', async () => {
    const { page, context } = await atWork();
    const number = page.getByLabel('Number');
    const before = await topOf(number);
    await context.setOffline(true);
    await scan(page, 'MAN-20260101-ABCD');
    await outcomeOf(page)
      .filter({ hasText: /^NOT A PARCEL$/ })
      .waitFor();
    expect(await page.getByLabel('Weight (lb)').count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await scan(page, 'IEX-1001');
    await outcomeOf(page)
      .filter({ hasText: /^WEIGH$/ })
      .waitFor();
    await type(page, '1.5');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await context.setOffline(false);
    const attention = page.getByTestId('attention');
    await attention.getByText('IEX-1001').first().waitFor();
    await outcomeOf(page)
      .filter({ hasText: /^NOT A PARCEL$/ })
      .waitFor();
    expect(await numbersOf(['IEX-1001', 'MAN-20260101-ABCD'])).toBe(0);
    // The panel is below the page, which has not moved.
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await topOf(number)).toBe(before);
    expect(await findingsOf(page)).toEqual([]);
    await attention.getByRole('button', { name: 'Dismiss' }).click();
    await attention.waitFor({ state: 'detached' });
    await context.close();
  });
});

describe('links', () => {
  it('lead from a package to its manifest, and from a manifest to its packages', async () => {
    const { page, context } = await atWork();
    const { rows } = await service.owner.query<{ manifest: string; house: string }>(
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
    await context.close();
  });

  it('an error below the search stands apart from it', async () => {
    const { page, context } = await atWork();
    await page.keyboard.press('Alt+3');
    await page.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
    await context.setOffline(true);
    await page.getByLabel('Code, number, customer or name').fill('anything');
    await page.keyboard.press('Enter');
    const problem = page.getByRole('alert').filter({ hasText: 'The service cannot be reached' });
    await problem.waitFor({ timeout: 60_000 });
    const search = await page.getByRole('search').boundingBox();
    const bottom = (search?.y ?? 0) + (search?.height ?? 0);
    expect((await topOf(problem)) ?? 0).toBeGreaterThan(bottom + 4);
    await context.close();
  });
});
