import { afterEach, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

const { atWork, open, runs, service } = consoleSuite({ worksOffline: true });

afterEach(() => service().owner.query('delete from user_preferences'));

const stored = async (as = 'manager') => (await service().call('getPreferences', { as })).body['data'];
const goTo = (page: Page, path: string) => page.goto(`${service().url}${path}`);
const openViews = (page: Page) => page.locator('.view-menu summary').click();
const views = (page: Page) => page.getByRole('list', { name: 'Saved views' });
const headers = (page: Page) => page.locator('.grid thead th').allInnerTexts();
const deviceCopy = (page: Page) => page.evaluate("localStorage.getItem('crossdock-preferences')");
const language = (page: Page) => page.evaluate('document.documentElement.lang');

/** Waits until the expectations hold, and says which does not. */
async function settles(check: () => Promise<void>): Promise<void> {
  const holds = () =>
    check().then(
      () => true,
      () => false,
    );
  await until(holds, 20_000).catch(() => undefined);
  await check();
}

async function saveView(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name of this view').fill(name);
  await page.getByRole('button', { name: 'Save the view' }).click();
  await views(page).getByRole('link', { name, exact: true }).waitFor();
}

async function logOut(page: Page): Promise<void> {
  await page.locator('.account').click();
  await page.getByRole('button', { name: /^(Log out|Cerrar sesión)$/ }).click();
  await page.locator('.entrance').waitFor();
}

runs(
  'a view and chosen columns of one device are on another one, and a removed view is gone there',
  async () => {
    const first = await atWork({ user: 'manager' });
    await goTo(first, '/console/customers?search=IEX-1001');
    await openViews(first);
    await first.getByRole('checkbox', { name: 'Branch' }).uncheck();
    await first.getByRole('button', { name: 'Always show these columns' }).click();
    await saveView(first, 'Marcia');
    await settles(async () => expect(await stored()).toMatchObject({ views: [{ name: 'Marcia' }] }));

    const second = await atWork({ user: 'manager' });
    await goTo(second, '/console/customers');
    await second.locator('.grid tbody tr').first().waitFor();
    await settles(async () => expect(await headers(second)).not.toContain('Branch'));
    await openViews(second);
    await views(second).getByRole('link', { name: 'Marcia' }).click();
    await second.getByText('Records: 1', { exact: true }).waitFor();
    await second.getByRole('button', { name: 'Remove Marcia' }).click();
    await second.getByRole('button', { name: 'Standard columns' }).click();
    await settles(async () => expect(await headers(second)).toContain('Branch'));
    await settles(async () => expect(await stored()).toMatchObject({ views: [], columns: [] }));

    await first.reload();
    await openViews(first);
    await settles(async () => expect(await views(first).count()).toBe(0));
  },
);

runs('without a connection a view is saved on the device, and sent when there is one again', async () => {
  const page = await atWork({ user: 'manager' });
  await goTo(page, '/console/customers');
  await page.locator('.grid tbody tr').first().waitFor();
  await openViews(page);
  await page.context().setOffline(true);
  await saveView(page, 'Offline');
  await saveView(page, 'Twice');
  await page.getByRole('button', { name: 'Remove Twice' }).click();
  expect(await deviceCopy(page)).toContain('Offline');
  expect(await stored()).toMatchObject({ views: [] });
  await page.context().setOffline(false);
  await settles(async () =>
    expect(await stored()).toMatchObject({ views: [{ name: 'Offline', list: 'customers' }] }),
  );
  await settles(async () => expect(await deviceCopy(page)).toContain('"unsent":[]'));
});

runs(
  'of two devices that change the same view, the change that arrives last wins, and others stay',
  async () => {
    const [first, second] = [await atWork({ user: 'manager' }), await atWork({ user: 'manager' })];
    for (const [page, search] of [
      [first, 'IEX-1001'],
      [second, 'IEX-1002'],
    ] as const) {
      await goTo(page, `/console/customers?search=${search}`);
      await page.locator('.grid tbody tr').first().waitFor();
      await openViews(page);
    }
    await first.context().setOffline(true);
    await saveView(first, 'Same');
    await saveView(first, 'Of the first');
    await saveView(second, 'Same');
    await settles(async () =>
      expect(await stored()).toMatchObject({ views: [{ query: 'search=IEX-1002' }] }),
    );
    await first.context().setOffline(false);
    await settles(async () =>
      expect(await stored()).toMatchObject({
        views: [
          { name: 'Same', query: 'search=IEX-1001' },
          { name: 'Of the first', query: 'search=IEX-1001' },
        ],
      }),
    );
  },
);

runs('language and colours follow the person, and the device keeps its own for the next one', async () => {
  const { page } = await open();
  await logIn(page, 'warehouse', DEMO.password);
  await page.locator('.workplace').waitFor();
  await page.locator('.account').click();
  await page.getByLabel('Language').selectOption('es');
  await settles(async () => expect(await language(page)).toBe('es'));
  await page.keyboard.press('Escape');
  await settles(async () => expect(await stored('warehouse')).toMatchObject({ language: 'es' }));
  // A reload shows it before the service answers.
  await page.route('**/api/Preferences', (route) => route.abort());
  await page.reload();
  await page.locator('.workplace').waitFor();
  expect(await language(page)).toBe('es');
  await logOut(page);
  expect(await language(page)).toBe('en');
  expect(await deviceCopy(page)).toBeNull();
  await page.unroute('**/api/Preferences');
  await logIn(page, 'manager', DEMO.password);
  await page.locator('.workplace').waitFor();
  await page.waitForLoadState('networkidle');
  expect(await language(page)).toBe('en');
  await goTo(page, '/console/me');
  await page.getByLabel('Colours').selectOption('dark');
  await settles(async () =>
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark'),
  );
  await settles(async () => expect(await stored()).toMatchObject({ theme: 'dark', language: null }));
  await logOut(page);
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('system');
});

runs(
  'a shared station keeps nothing of a worker who has logged out, nor of one whose session ended',
  async () => {
    await service().call('updatePreferences', {
      as: 'manager',
      body: { views: [{ list: 'customers', name: 'Private', query: 'search=Campbell' }] },
    });
    const page = await atWork({ user: 'manager' });
    await settles(async () => expect(await deviceCopy(page)).toContain('Campbell'));
    const everything = () => page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
    await logOut(page);
    expect(await everything()).not.toContain('Campbell');
    // The session ends while nobody is there, and the window is closed.
    await logIn(page, 'manager', DEMO.password);
    await settles(async () => expect(await deviceCopy(page)).toContain('Campbell'));
    await page.context().clearCookies();
    const next = await page.context().newPage();
    await page.close();
    await goTo(next, '/console');
    await next.locator('.entrance').waitFor();
    await settles(async () => expect(await deviceCopy(next)).toBeNull());
    await logIn(next, 'warehouse', DEMO.password);
    await next.locator('.workplace').waitFor();
    expect(await next.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).not.toContain(
      'Campbell',
    );
  },
);

runs(
  'views that a device stored before are taken over once, without replacing those of the person',
  async () => {
    await service().call('updatePreferences', {
      as: 'manager',
      body: { views: [{ list: 'customers', name: 'Mine', query: 'search=IEX' }] },
    });
    const { page } = await open();
    const old = {
      customers: [
        { name: 'Mine', query: 'search=OLD' },
        { name: 'Old', query: 'search=IEX-1001' },
        { name: '  ', query: '' },
      ],
      parcels: [{ name: 'Held', query: 'status=on_hold' }],
    };
    await page.evaluate(`localStorage.setItem('crossdock-views', ${JSON.stringify(JSON.stringify(old))})`);
    // A worker of the station has no lists.
    await logIn(page, 'warehouse', DEMO.password);
    await page.locator('.workplace').waitFor();
    await page.waitForLoadState('networkidle');
    await logOut(page);
    await logIn(page, 'manager', DEMO.password);
    await settles(async () =>
      expect(await stored()).toMatchObject({
        views: [
          { list: 'customers', name: 'Mine', query: 'search=IEX' },
          { list: 'customers', name: 'Old', query: 'search=IEX-1001' },
          { list: 'parcels', name: 'Held', query: 'status=on_hold' },
        ],
      }),
    );
    expect(await page.evaluate("localStorage.getItem('crossdock-views')")).toBeNull();
    expect(await stored('warehouse')).toMatchObject({ views: [] });
  },
);

runs('the view menu says why the service refused a view, and goes on without it', async () => {
  const views = Array.from({ length: 60 }, (_, number) => ({
    list: 'audit',
    name: `View ${number}`,
    query: '',
  }));
  await service().call('updatePreferences', { as: 'admin', body: { views } });
  const page = await atWork({ user: 'admin' });
  await goTo(page, '/console/customers');
  await page.locator('.grid tbody tr').first().waitFor();
  await openViews(page);
  await page.getByLabel('Name of this view').fill('One too many');
  await page.getByRole('button', { name: 'Save the view' }).click();
  await page.getByText(/You can have 60 saved views/).waitFor();
  expect(await findingsOf(page)).toEqual([]);
  await settles(async () => expect(await deviceCopy(page)).toContain('"unsent":[]'));
  await service().call('updatePreferences', { as: 'admin', body: { views: [{ ...views[0], query: null }] } });
  await saveView(page, 'It fits now');
  await settles(async () => expect(JSON.stringify(await stored('admin'))).toContain('It fits now'));
});
