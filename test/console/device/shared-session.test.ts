import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, outcomeOf, scan, type } from '../../support/console/browser.js';
import { consoleSuite, weightsOf } from '../../support/console/suite.js';

const { it, open, runs, service } = consoleSuite({ worksOffline: true });

const workplace = (page: Page) => page.locator('.workplace').waitFor();
const loginPage = (page: Page) => page.locator('[autocomplete="username"]:enabled').waitFor();
const expired = (page: Page) => page.getByRole('dialog', { name: 'Log in again' });

/** Opens the console in another tab of the same browser. */
async function openTab(page: Page): Promise<Page> {
  const tab = await page.context().newPage();
  await tab.goto(`${service().url}/console`);
  return tab;
}

async function clickLogOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
}

const countSessions = async (ended: boolean) => {
  const { rowCount } = await service().owner.query(
    'select from sessions where user_id = $1 and started_by = $2 and user_agent like $3 and (ended_at is not null) = $4',
    [DEMO.users.warehouse, 'login', '%Chrome%', ended],
  );
  return rowCount ?? 0;
};

/** Waits for a change in the database that no page shows. */
async function untilEnded(count: number): Promise<void> {
  for (let round = 0; round < 200 && (await countSessions(true)) < count; round += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await countSessions(true)).toBe(count);
}

/** A tab that hears nothing of the others, as one that the browser has put to sleep. */
const DEAF = 'globalThis.BroadcastChannel = class extends EventTarget { postMessage() {} }';

/** Everything that a script of the page can read and that outlives the page. */
const readable = (page: Page) =>
  page.evaluate<string>('JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])');

const cookiesOf = async (page: Page) =>
  (await page.context().cookies()).map(({ name, value, httpOnly, sameSite, path, expires }) => ({
    ...{ name, httpOnly, sameSite, path, expires },
    isToken: value.startsWith('eyJ'),
  }));

describe('the session of the device', () => {
  it('opens in another tab without the password, and no script can read its credential', async (page) => {
    const tab = await openTab(page);
    await workplace(tab);
    for (const each of [page, tab]) expect(await readable(each)).not.toContain('eyJ');
    expect(await cookiesOf(page)).toEqual([
      {
        ...{ name: 'crossdock-session', httpOnly: true, sameSite: 'Strict', path: '/api/', expires: -1 },
        isToken: true,
      },
    ]);
  });

  it('ends in all tabs with a log-out in one, and at the service', async (page) => {
    const tab = await openTab(page);
    await workplace(tab);
    const before = await countSessions(true);
    await clickLogOut(tab);
    await loginPage(tab);
    await loginPage(page);
    await untilEnded(before + 1);
    const third = await openTab(page);
    await loginPage(third);
    await page.reload();
    await loginPage(page);
    expect(await cookiesOf(page)).toEqual([]);
  });

  it('that has ended at the service asks in all tabs, and goes on in all with one login', async (page) => {
    const tab = await openTab(page);
    await workplace(tab);
    await scan(page, 'SHARED000001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(page, '4.5');
    await service().owner.query(
      "update sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1 and ended_at is null",
      [DEMO.users.warehouse],
    );
    await page.keyboard.press('Enter');
    await expired(page).waitFor();
    await expired(tab).waitFor();
    await expired(tab).getByLabel('Password').fill(DEMO.password);
    await tab.keyboard.press('Enter');
    await expired(tab).waitFor({ state: 'detached' });
    await expired(page).waitFor({ state: 'detached' });
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weightsOf(service(), 'SHARED000001')).toEqual([4.5]);
  });

  it('of another user replaces the first in all tabs', async (page) => {
    const tab = await openTab(page);
    await workplace(tab);
    await clickLogOut(tab);
    await loginPage(tab);
    await logIn(tab, 'manager', DEMO.password);
    await page.getByText('Demo Manager').first().waitFor();
    expect(await page.getByText('Demo Warehouse').count()).toBe(0);
  });

  it('never sends what one user has scanned with the cookie of another', async (page) => {
    const deaf = await page.context().newPage();
    await deaf.addInitScript(DEAF);
    await deaf.goto(`${service().url}/console#/receive`);
    await workplace(deaf);
    await scan(deaf, 'NOTMINE00001');
    await outcomeOf(deaf).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(deaf, '4.5');
    await clickLogOut(page);
    await loginPage(page);
    await logIn(page, 'manager', DEMO.password);
    await workplace(page);
    await deaf.keyboard.press('Enter');
    // The service refuses the cookie, and the page finds who has logged in. The scan waits for its user.
    await deaf.getByText('Scans and corrections of Demo Warehouse wait on this device: 1').waitFor();
    expect(await weightsOf(service(), 'NOTMINE00001')).toEqual([]);
    await clickLogOut(page);
    await loginPage(page);
    await logIn(page, 'warehouse', DEMO.password);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weightsOf(service(), 'NOTMINE00001')).toEqual([4.5]);
  });

  it('that is logged out without a connection ends as soon as there is one', async (page) => {
    const before = await countSessions(true);
    await page.evaluate('navigator.serviceWorker.ready');
    await page.context().setOffline(true);
    await clickLogOut(page);
    await loginPage(page);
    expect(await countSessions(true)).toBe(before);
    await page.reload();
    await loginPage(page);
    await page.context().setOffline(false);
    await untilEnded(before + 1);
    await page.reload();
    await loginPage(page);
  });

  runs('goes on from a page of before the upgrade, which had its token in the storage', async () => {
    const token = await service().freshTokenOf('warehouse');
    const { body } = await service().call('getDeviceSession', { token });
    const { page } = await open();
    await loginPage(page);
    const stored = JSON.stringify({ token, user: body['data'].user });
    await page.evaluate(`sessionStorage.setItem('crossdock-session', ${JSON.stringify(stored)})`);
    await page.reload();
    await workplace(page);
    expect(await readable(page)).not.toContain('eyJ');
    await scan(page, 'UPGRADE00001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    const tab = await openTab(page);
    await workplace(tab);
    expect(await cookiesOf(page)).toMatchObject([{ httpOnly: true, isToken: true }]);
  });
});
