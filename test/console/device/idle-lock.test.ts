import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, scan, type } from '../../support/console/browser.js';
import { consoleSuite, expectWord, receiversOf, weightsOf } from '../../support/console/suite.js';
import { insertMailedUser, insertUsers } from '../../support/builders/users.js';
import { until } from '../../support/service/processes.js';
import {
  leaveAlone,
  locked,
  lockNow,
  loginPage,
  LONGER_THAN_A_CHECK_MS,
  unlock,
} from '../../support/console/locked.js';

// A station that nobody uses (decision 0136).

const { it, service } = consoleSuite();

const kept = (page: Page) => page.getByTestId('locked-scans');

const openSessions = async () => {
  const { rowCount } = await service().owner.query(
    'select from sessions where user_id = $1 and ended_at is null and user_agent like $2',
    [DEMO.users.warehouse, '%Chrome%'],
  );
  return rowCount ?? 0;
};

/** Waits until the station has logged out. */
async function untilEnded(): Promise<void> {
  await until(async () => (await openSessions()) === 0);
}

it('ends the session of a station after its minutes, also over a reload, and keeps the parcel in work', async (page) => {
  await scan(page, 'IDLE0000001');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await leaveAlone(page, 14);
  await page.waitForTimeout(LONGER_THAN_A_CHECK_MS);
  expect([await locked(page).count(), await openSessions()]).toEqual([0, 1]);
  await leaveAlone(page, 15);
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

it('a device that slept is locked by the first key, which does not begin the time again', async (page) => {
  await page.clock.setFixedTime(Date.now() + 30 * 60_000);
  await page.keyboard.press('Shift');
  await locked(page).waitFor({ timeout: 10_000 });
});

it('a scan at a locked station is received by nobody until the next user takes it', async (page) => {
  await insertUsers(service().owner, 1);
  await scan(page, 'IDLE0000002');
  await expectWord(page, 'UNKNOWN');
  await lockNow(page);
  await scan(page, 'IDLE0000003');
  await locked(page).getByText('Scanned while locked: 1.').waitFor();
  // What a program types as fast as a scanner may be a password.
  await scan(page, 'correct-horse-battery');
  await locked(page).getByText('Not kept: 1. Scan these parcels again after the login.').waitFor();
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
  expect(await receiversOf(service(), 'IDLE0000002')).toEqual([{ weight: 7.5, username: 'spare-1' }]);
  for (const other of ['IDLE0000003', 'IDLE0000004']) expect(await weightsOf(service(), other)).toEqual([]);
  await page.reload();
  await kept(page).waitFor();
  expect(await kept(page).locator('.mono').allTextContents()).toEqual(['IDLE0000003']);
});

it('a device that chose never stays open, in all tabs', async (page) => {
  const tab = await page.context().newPage();
  await tab.goto(`${service().url}/console`);
  await tab.locator('.workplace').waitFor();
  await page.bringToFront();
  await page.getByRole('button', { name: /Account/ }).click();
  const minutes = page.getByLabel('Lock this station without input after');
  expect(await minutes.inputValue()).toBe('15');
  await minutes.selectOption('Never');
  await page.keyboard.press('Escape');
  await leaveAlone(page, 600);
  await page.waitForTimeout(LONGER_THAN_A_CHECK_MS);
  expect([await locked(page).count(), await locked(tab).count()]).toEqual([0, 0]);
});

it('the scans of the user who had left wait for that user, whoever works meanwhile', async (page) => {
  const { username: other } = await insertMailedUser(service().owner, 'other', {
    role: 'warehouse',
    full_name: 'Other User',
  });
  const sending = /\/api\/ScanBatch/;
  await page.context().route(sending, (route) => route.abort());
  await scan(page, 'IDLE0000005');
  await expectWord(page, 'UNKNOWN');
  await type(page, '3');
  await page.keyboard.press('Enter');
  await page.getByTestId('queue').filter({ hasText: '1' }).waitFor();
  // A question of that user is not one for the next.
  await scan(page, 'IDLE0000006');
  await expectWord(page, 'UNKNOWN');
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.getByRole('dialog', { name: 'A parcel waits' }).waitFor();
  await leaveAlone(page, 20);
  await locked(page).getByRole('button', { name: 'I am somebody else' }).click();
  await loginPage(page);
  await page.getByTestId('waiting-here').waitFor();
  await page.context().unroute(sending);
  await logIn(page, other, DEMO.password);
  await kept(page).waitFor();
  await page.getByText(/Scans and corrections of Demo Warehouse wait on this device: 1\./).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  expect(await kept(page).locator('.mono').allTextContents()).toEqual(['IDLE0000006']);
  await kept(page).getByRole('button', { name: 'Dismiss IDLE0000006' }).click();
  expect(await weightsOf(service(), 'IDLE0000005')).toEqual([]);
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await logIn(page, 'warehouse', DEMO.password);
  await until(async () => (await weightsOf(service(), 'IDLE0000005')).length === 1);
  expect(await receiversOf(service(), 'IDLE0000005')).toEqual([{ weight: 3, username: 'warehouse' }]);
});
