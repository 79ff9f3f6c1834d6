import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { logIn, personalPause } from '../../support/console/browser.js';
import { savedFile } from '../../support/console/saved-file.js';
import { consoleSuite } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { atWork, it, open, runs, service } = consoleSuite();

/** Of everything that the browser loads until the first list of the office is there. */
const LARGEST_FIRST_LOAD = 180_000;

const pathOf = (page: Page) => page.evaluate<string>('location.pathname + location.search + location.hash');
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();
const rows = (page: Page) => page.locator('.grid tbody tr');
const goTo = async (page: Page, path: string) => {
  await page.goto(`${service().url}${path}`);
};

describe('the two modes', () => {
  it(
    'a manager begins in the office, and switches to the station and back',
    async (page) => {
      await heading(page, 'Home');
      await page.getByRole('heading', { name: 'Open manifests' }).waitFor();
      expect(await pathOf(page)).toBe('/console/home');
      expect(
        await page
          .getByRole('navigation', { name: 'Pages', exact: true })
          .getByRole('link')
          .allTextContents(),
      ).toEqual([
        'Home',
        'Parcels',
        'Places',
        'Manifests',
        'Unknown parcels',
        'Customers',
        'Couriers',
        'Announcements',
        'Bills',
        'Rates',
        'Webhooks',
        'Reports',
        'Team',
        'Settings',
        'Me',
      ]);
      await page.getByRole('link', { name: 'Station', exact: true }).click();
      await heading(page, 'Receive');
      expect(await pathOf(page)).toBe('/console#/receive');
      await page.getByRole('link', { name: 'Office', exact: true }).click();
      await heading(page, 'Home');
      await page.goBack();
      await heading(page, 'Receive');
    },
    'manager',
  );

  it('a warehouse user has no office, also at its addresses', async (page) => {
    expect(await page.getByRole('link', { name: 'Office', exact: true }).count()).toBe(0);
    await goTo(page, '/console/customers');
    await heading(page, 'Receive');
    expect(await pathOf(page)).toBe('/console');
  });

  runs('the office loads at most 180 kB compressed, with the login and its first list', async () => {
    const { context, page } = await open({ serviceWorkers: 'block' });
    const sizes = new Map<string, number>();
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      const length = Number(response.headers()['content-length'] ?? 0);
      if (!pathname.startsWith('/api/')) sizes.set(pathname, length);
    });
    await goTo(page, '/console/parcels');
    await logIn(page, 'manager', DEMO.password);
    await rows(page).first().waitFor();
    await page.waitForLoadState('networkidle');
    await context.close();
    expect([...sizes].filter(([path, size]) => path.startsWith('/console/assets/') && size === 0)).toEqual(
      [],
    );
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(LARGEST_FIRST_LOAD);
  });

  it('a station loads nothing of the office', async (page) => {
    await page.waitForLoadState('networkidle');
    const loaded = await page.evaluate<string[]>(
      `Promise.all(performance.getEntriesByType('resource')
        .filter(({ name, initiatorType }) => name.endsWith('.js') && initiatorType !== 'fetch')
        .map(({ name }) => fetch(name).then((reply) => reply.text())))`,
    );
    expect(loaded.length).toBeGreaterThan(1);
    // A text of the office, and a name of its table.
    expect(
      loaded.filter((text) => text.includes('palette.none') || text.includes('getSelectedRowModel')),
    ).toEqual([]);
  });
});

describe('an address', () => {
  runs('of an object leads there after the login', async () => {
    const { page } = await open();
    await goTo(page, '/console/customers/IEX-1001?search=IEX&sort=-last_name');
    await logIn(page, 'manager', DEMO.password);
    await page.getByRole('complementary', { name: 'IEX-1001' }).getByText('Marcia Campbell').waitFor();
    expect(await page.getByLabel('Code or name').inputValue()).toBe('IEX');
    expect(await pathOf(page)).toBe('/console/customers/IEX-1001?search=IEX&sort=-last_name');
  });

  it(
    'keeps search, filter, sort, page and columns, which the way back and a reload show again',
    async (page) => {
      await goTo(page, '/console/customers');
      await rows(page).first().waitFor();
      const total = await rows(page).count();
      await page.getByRole('button', { name: 'Last name' }).click();
      await page.waitForURL('**/console/customers?sort=last_name');
      await page.getByRole('combobox', { name: 'Courier' }).selectOption({ label: 'Harbour Couriers' });
      await page.getByRole('button', { name: /Courier: Harbour Couriers/ }).waitFor();
      await page.getByLabel('Code or name').fill('HRB-20');
      await page.waitForURL(/search=HRB-20/);
      await page.locator('.view-menu summary').click();
      await page.getByRole('checkbox', { name: 'Branch' }).uncheck();
      await page.waitForURL(/columns=/);
      await page.getByRole('columnheader', { name: 'Branch' }).waitFor({ state: 'detached' });
      const address = await pathOf(page);
      expect(Object.fromEntries(new URL(`http://x${address}`).searchParams)).toEqual({
        search: 'HRB-20',
        courier: DEMO.couriers.HRB,
        sort: 'last_name',
        columns: 'user_code,first_name,last_name,courier,status,updated_at',
      });
      await page.reload();
      await rows(page).first().waitFor();
      const codes = await page.locator('.grid tbody tr td:nth-child(2)').allTextContents();
      expect(codes.filter((code) => !code.startsWith('HRB-20'))).toEqual([]);
      expect(await page.getByRole('columnheader', { name: 'Branch' }).count()).toBe(0);
      const names = await page.locator('.grid tbody tr td:nth-child(4)').allTextContents();
      expect(names).toEqual(names.toSorted((a, b) => a.localeCompare(b, 'en')));
      await page.goBack();
      await page.getByRole('columnheader', { name: 'Branch' }).waitFor();
      await page.goBack();
      await page.goBack();
      await page.waitForURL('**/console/customers');
      await page.waitForFunction(`document.querySelectorAll('.grid tbody tr').length === ${total}`);
    },
    'manager',
  );

  it(
    'that does not exist says so',
    async (page) => {
      await goTo(page, '/console/customers/NO-SUCH-CODE');
      await page.getByText('No customer has the code NO-SUCH-CODE').waitFor();
      await goTo(page, '/console/couriers/NOPE');
      await page.getByRole('heading', { name: 'No courier has the code NOPE' }).waitFor();
      // Of an administrator only.
      await goTo(page, '/console/audit');
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor();
      const reply = await page.goto(`${service().url}/console/nonsense`);
      expect(reply?.status()).toBe(404);
      await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    },
    'manager',
  );
});

describe('a list', () => {
  it(
    'is used with the keyboard: j, k, x, Enter and Escape',
    async (page) => {
      await goTo(page, '/console/customers');
      await rows(page).first().waitFor();
      await page.getByRole('region', { name: 'Customers' }).focus();
      const focused = () => page.evaluate<string>('document.activeElement.textContent');
      // Keys that come faster are those of a scanner.
      const press = async (key: string) => {
        await personalPause(page);
        await page.keyboard.press(key);
      };
      await press('j');
      const first = await focused();
      await press('j');
      const second = await focused();
      expect(second).not.toBe(first);
      await press('k');
      expect(await focused()).toBe(first);
      await press('x');
      await page.getByText('Selected: 1').waitFor();
      await press('x');
      await page.getByText('Selected: 1').waitFor({ state: 'detached' });
      await press('Enter');
      await page.getByRole('complementary').waitFor();
      await press('Escape');
      await page.getByRole('complementary').waitFor({ state: 'detached' });
      expect(await focused()).toBe(first);
    },
    'manager',
  );

  it(
    'keeps views, and exports what is shown without formulas',
    async (page) => {
      await service().owner.query(
        `update customers set branch = '=1+1;=2' where tenant_id = $1 and user_code = 'IEX-1001'`,
        [DEMO.tenants.demo],
      );
      await goTo(page, '/console/customers');
      await page.getByLabel('Code or name').fill('IEX-1001');
      await page.getByText('Records: 1', { exact: true }).waitFor();
      await page.locator('.view-menu summary').click();
      await page.getByLabel('Name of this view').fill('Marcia');
      await page.getByRole('button', { name: 'Save the view' }).click();
      const { bytes } = await savedFile(page, () =>
        page.getByRole('button', { name: 'Export what is shown (CSV)' }).click(),
      );
      const [header, line] = bytes.toString('utf8').split('\r\n');
      expect(header).toBe('\uFEFFUser code,First name,Last name,Courier,Branch,Status,Changed');
      expect(line).toMatch(/^IEX-1001,Marcia,Campbell,Island Express,"'=1\+1;'=2",Active,/);
      await goTo(page, '/console/customers');
      await page.locator('.view-menu summary').click();
      await page.getByRole('link', { name: 'Marcia' }).click();
      await page.getByText('Records: 1', { exact: true }).waitFor();
      expect(await pathOf(page)).toBe('/console/customers?search=IEX-1001');
    },
    'manager',
  );

  it(
    'says that it cannot be loaded, and loads when the person tries again',
    async (page) => {
      await goTo(page, '/console/customers');
      await rows(page).first().waitFor();
      await page.route(/ManageCustomers/, (route) => route.abort());
      await page.getByRole('button', { name: 'First name' }).click();
      const retry = page.getByRole('button', { name: 'Try again' });
      await retry.waitFor({ timeout: 60_000 });
      await page.unroute(/ManageCustomers/);
      await retry.click();
      await retry.waitFor({ state: 'detached' });
    },
    'manager',
  );
});

runs('the drawer of a telephone opens and leads on', async () => {
  const page = await atWork({ user: 'manager', width: 390 });
  await heading(page, 'Home');
  const link = page.getByRole('link', { name: 'Couriers', exact: true });
  expect(await link.isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).click();
  await link.click();
  await heading(page, 'Couriers');
  expect(await link.isVisible()).toBe(false);
});

it(
  'the colours that a person chooses stay on the device',
  async (page) => {
    await goTo(page, '/console/me');
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.getByLabel('Colours').selectOption({ label: 'Dark' });
    // Chromium computes the colours of a changed scheme for the next frame.
    await until(async () => (await background()) !== light);
    await page.getByLabel('Colours').selectOption({ label: 'Light' });
    await until(async () => (await background()) === light);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.reload();
    await heading(page, 'Me');
    await until(async () => (await background()) === light);
  },
  'manager',
);

runs('the present part and the present page are in sight on a phone, in Spanish', async () => {
  for (const [user, path] of [
    ['admin', '/settings/security'],
    ['admin', '/couriers/IEX/sync'],
    ['iex', '#/feeds'],
  ] as const) {
    const { page } = await open({ width: 390, locale: 'es-ES', isQuiet: false });
    await logIn(page, user, DEMO.password);
    await page.locator('.workplace').waitFor();
    await page.goto(`${service().url}/console${path}`);
    await page.locator('.tabs [aria-current]').waitFor();
    const outside = await page.evaluate<string[]>(`[...document.querySelectorAll('nav [aria-current]')]
      .filter((link) => { const { left, right } = link.getBoundingClientRect(); return right > 0 && (left < 0 || right > innerWidth) })
      .map(({ textContent }) => textContent)`);
    expect({ path, outside }).toEqual({ path, outside: [] });
  }
});
