import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, weightsOf } from '../../support/console/suite.js';
import { insertUsers } from '../../support/builders/users.js';

// A station that nobody uses (decision 0136).

const { it, service } = consoleSuite();

const locked = (page: Page) => page.getByRole('dialog', { name: 'Locked' });
const kept = (page: Page) => page.getByTestId('locked-scans');
const loginPage = (page: Page) => page.locator('[autocomplete="username"]:enabled').waitFor();

/** Nobody has used the device for some minutes. */
const leaveAlone = (page: Page, minutes: number) =>
  page.evaluate(`localStorage.setItem('crossdock-last-input', String(Date.now() - ${minutes} * 60000))`);

const openSessions = async () => {
  const { rowCount } = await service().owner.query(
    'select from sessions where user_id = $1 and ended_at is null and user_agent like $2',
    [DEMO.users.warehouse, '%Chrome%'],
  );
  return rowCount ?? 0;
};

/** Waits until the station has logged out. */
async function untilEnded(): Promise<void> {
  for (let round = 0; round < 200 && (await openSessions()) > 0; round += 1)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await openSessions()).toBe(0);
}

async function unlock(page: Page): Promise<void> {
  await locked(page).getByLabel('Password').fill(DEMO.password);
  await page.keyboard.press('Enter');
  await locked(page).waitFor({ state: 'detached' });
}

it('ends the session of a station after its minutes, also over a reload, and keeps the parcel in work', async (page) => {
  await scan(page, 'IDLE0000001');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await leaveAlone(page, 9);
  // Longer than the station looks again.
  await page.waitForTimeout(6_000);
  expect([await locked(page).count(), await openSessions()]).toEqual([0, 1]);
  await leaveAlone(page, 10);
  await locked(page).waitFor();
  await untilEnded();
  expect(await page.context().cookies()).toEqual([]);
  await page.reload();
  await locked(page).waitFor();
  await locked(page).getByLabel('Password').fill('wrong');
  await page.keyboard.press('Enter');
  await locked(page).getByRole('alert').waitFor();
  await unlock(page);
  await page.getByText('IDLE0000001').first().waitFor();
  expect(await page.getByLabel('Weight').inputValue()).toBe('4.5');
  await page.getByLabel('Weight').focus();
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  expect(await weightsOf(service(), 'IDLE0000001')).toEqual([4.5]);
});

it('the first key after a long pause locks, and no tab begins the time again', async (page) => {
  const tab = await page.context().newPage();
  await tab.goto(`${service().url}/console`);
  await tab.locator('.workplace').waitFor();
  await leaveAlone(page, 30);
  await page.keyboard.press('Shift');
  await locked(page).waitFor({ timeout: 2_000 });
  await locked(tab).waitFor();
  await unlock(tab);
  await locked(page).waitFor({ state: 'detached' });
  await leaveAlone(page, 30);
  await tab.reload();
  await locked(tab).waitFor();
});

it('a scan at a locked station is received by nobody until the next user takes it', async (page) => {
  await insertUsers(service().owner, 1);
  await scan(page, 'IDLE0000002');
  await expectWord(page, 'UNKNOWN');
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  await locked(page).waitFor();
  await scan(page, 'IDLE0000003');
  await locked(page).getByText('Scanned while locked: 1.').waitFor();
  // What a program types as fast as a scanner may be a password.
  await scan(page, 'correct-horse-battery');
  await scan(page, 'IDLE0000003');
  await scan(page, 'IDLE0000004');
  await locked(page).getByText('Scanned while locked: 2.').waitFor();
  expect(await locked(page).getByLabel('Password').inputValue()).toBe('');

  await locked(page).getByRole('button', { name: 'I am somebody else' }).click();
  await loginPage(page);
  await logIn(page, 'spare-1', DEMO.password);
  await kept(page).waitFor();
  expect(await kept(page).locator('.mono').allTextContents()).toEqual([
    'IDLE0000003',
    'IDLE0000004',
    'IDLE0000002',
  ]);
  await kept(page).getByRole('button', { name: 'Dismiss IDLE0000004' }).click();
  await kept(page).getByRole('button', { name: 'Take it IDLE0000002' }).click();
  await expectWord(page, 'UNKNOWN');
  await type(page, '7.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
  const { rows } = await service().owner.query(
    `select p.tracking_number, p.weight_lb::float as weight, u.username
     from packages p join package_events e on e.tenant_id = p.tenant_id and e.package_id = p.id
     join users u on u.id = e.actor_user_id where p.tracking_number like 'IDLE000000%'`,
  );
  expect(rows.filter(({ tracking_number }) => tracking_number !== 'IDLE0000001')).toEqual([
    { tracking_number: 'IDLE0000002', weight: 7.5, username: 'spare-1' },
  ]);
  await page.reload();
  await kept(page).waitFor();
  expect(await kept(page).locator('.mono').allTextContents()).toEqual(['IDLE0000003']);
});

it('a station without a connection goes on, and is locked when there is one again', async (page) => {
  await page.evaluate('navigator.serviceWorker.ready');
  await page.context().setOffline(true);
  await leaveAlone(page, 30);
  await page.waitForTimeout(6_000);
  expect(await locked(page).count()).toBe(0);
  await leaveAlone(page, 30);
  await page.context().setOffline(false);
  await locked(page).waitFor();
});

it('a device that chose never stays open', async (page) => {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByLabel('Lock this station without input after').selectOption('Never');
  await page.keyboard.press('Escape');
  await leaveAlone(page, 600);
  await page.waitForTimeout(6_000);
  expect(await locked(page).count()).toBe(0);
});
