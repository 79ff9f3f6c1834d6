import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf, scan, type } from '../../support/console/browser.js';
import { leaveAlone, locked, lockNow, LONGER_THAN_A_CHECK_MS, unlock } from '../../support/console/locked.js';
import { consoleSuite, expectWord, press, weightsOf } from '../../support/console/suite.js';
import { until } from '../../support/service/processes.js';

// What a locked station shows, and what it does without a connection (decision 0136).

const { atWork, it, runs, service } = consoleSuite({ worksOffline: true });

/** What a person or a screen reader finds on the page, and what a printer gets. */
const readable = async (page: Page) =>
  [await page.evaluate<string>('document.body.innerText'), await page.locator('body').ariaSnapshot()].join();

const dueNotice = (page: Page) => page.getByText('Without a connection it is not locked.');

async function receive(page: Page, code: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  await page.keyboard.press('Enter');
  await expectWord(page, 'NO OWNER');
}

/** Scans a parcel, and types its weight without Enter. */
async function weigh(page: Page, code: string): Promise<void> {
  await scan(page, code);
  await expectWord(page, 'UNKNOWN');
  await type(page, '6.25');
}

const openSessions = async () => {
  const { rowCount } = await service().owner.query(
    'select from sessions where user_id = $1 and ended_at is null and user_agent like $2',
    [DEMO.users.warehouse, '%Chrome%'],
  );
  return rowCount ?? 0;
};

it('covers everything on the page, and no shortcut opens a dialog before the login', async (page) => {
  await receive(page, 'COVER000001');
  await weigh(page, 'COVER000002');
  expect(await readable(page)).toMatch(/COVER000001[^]*COVER000002/);
  // A dialog with a text of its own is open.
  await press(page, 'F2');
  await page.getByRole('dialog').getByText('COVER000001').first().waitFor();
  await leaveAlone(page, 20);
  await locked(page).waitFor();
  for (const key of ['F1', 'F2', 'Alt+2', 'Escape']) await press(page, key);
  await locked(page).locator('input[type=password]:focus').waitFor();
  const shown = await readable(page);
  expect(shown).toContain('The session of Demo Warehouse has ended.');
  expect(['COVER', '4.5', '6.25', 'UNKNOWN'].filter((text) => shown.includes(text))).toEqual([]);
  expect(await page.getByRole('dialog').count()).toBe(1);
  expect(await findingsOf(page)).toEqual([]);
  await unlock(page);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.getByText('COVER000002').first().waitFor();
  expect(await page.getByLabel('Weight').inputValue()).toBe('6.25');
});

runs('covers the page of a telephone, in the dark and in Spanish', async () => {
  const device = { language: 'es', labels: 'off', hasSound: false };
  const page = await atWork({ device, width: 390, colorScheme: 'dark' });
  await scan(page, 'COVER000003');
  await page.getByText('COVER000003').first().waitFor();
  await leaveAlone(page, 20);
  const dialog = page.getByRole('dialog', { name: 'Bloqueada' });
  await dialog.getByText('La sesión de Demo Warehouse se cerró.').waitFor();
  await scan(page, 'COVER000004');
  await dialog.getByText('Escaneados durante el bloqueo: 1.').waitFor();
  expect(await readable(page)).not.toContain('COVER');
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await findingsOf(page)).toEqual([]);
});

it(
  'covers the office in another tab of the device',
  async (office) => {
    await office.goto(`${service().url}/console/customers`);
    const name = (await office.locator('.grid tbody tr td:nth-child(2)').first().textContent()) ?? '';
    expect(name).toMatch(/\w{3}/);
    const station = await office.context().newPage();
    await station.goto(`${service().url}/console#/receive`);
    await lockNow(station);
    await locked(office).waitFor();
    await office.keyboard.press('F1');
    expect(await readable(office)).not.toContain(name);
    expect(await office.getByRole('dialog').count()).toBe(1);
    await unlock(office);
    await office.getByText(name).first().waitFor();
    await locked(station).waitFor({ state: 'detached' });
  },
  'manager',
);

it('the input that locks does nothing else: no key, no click and no scan reaches the parcel', async (page) => {
  await weigh(page, 'INPUT000001');
  await leaveAlone(page, 20);
  await page.keyboard.press('Enter');
  await locked(page).waitFor();
  expect(await locked(page).getByRole('alert').count()).toBe(0);
  await unlock(page);

  const button = await page
    .getByRole('button', { name: /^Receive/ })
    .first()
    .boundingBox();
  await leaveAlone(page, 20);
  await page.mouse.click((button?.x ?? 0) + 5, (button?.y ?? 0) + 5);
  await locked(page).waitFor();
  await unlock(page);

  await leaveAlone(page, 20);
  await scan(page, 'INPUT000002');
  await locked(page).getByText('Scanned while locked: 1.').waitFor();
  expect(await locked(page).getByLabel('Password').inputValue()).toBe('');
  await unlock(page);
  expect(await page.getByLabel('Weight').inputValue()).toBe('6.25');
  for (const number of ['INPUT000001', 'INPUT000002']) expect(await weightsOf(service(), number)).toEqual([]);
});

it('a session that had ended before is locked too', async (page) => {
  await scan(page, 'ENDED000001');
  await expectWord(page, 'UNKNOWN');
  await service().owner.query(
    "update sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1 and ended_at is null",
    [DEMO.users.warehouse],
  );
  await page.evaluate("location.hash = '#/today'");
  await page.getByRole('dialog', { name: 'Log in again' }).waitFor();
  await leaveAlone(page, 20);
  await locked(page).waitFor();
  expect(await readable(page)).not.toContain('ENDED000001');
  await scan(page, 'ENDED000002');
  await locked(page).getByText('Scanned while locked: 1.').waitFor();
  await unlock(page);
});

it('without a connection a pause is not forgotten: the station says so, goes on, and is locked later', async (page) => {
  await page.evaluate('navigator.serviceWorker.ready');
  await page.context().setOffline(true);
  await leaveAlone(page, 30);
  await dueNotice(page).waitFor();
  await scan(page, 'CUTOFF000001');
  await type(page, '2');
  await page.keyboard.press('Enter');
  await expectWord(page, 'SAVED');
  expect(await locked(page).count()).toBe(0);
  await page.context().setOffline(false);
  await locked(page).waitFor();
  expect(await readable(page)).not.toContain('CUTOFF000001');
  await unlock(page);
  await until(async () => (await weightsOf(service(), 'CUTOFF000001')).length === 1);
  expect(await dueNotice(page).count()).toBe(0);
});

it('a service that does not answer counts as no connection', async (page) => {
  const calls = /\/api\//;
  await page
    .context()
    .route(calls, (route) => route.fulfill({ status: 200, body: 'Log in to this network.' }));
  await leaveAlone(page, 30);
  await dueNotice(page).waitFor();
  await page.waitForTimeout(LONGER_THAN_A_CHECK_MS);
  expect(await locked(page).count()).toBe(0);
  await page.context().unroute(calls);
  await locked(page).waitFor();
});

it('a lock that the service has not heard of covers the page, and the session ends as soon as it answers', async (page) => {
  await scan(page, 'UNHEARD00001');
  await expectWord(page, 'UNKNOWN');
  const calls = /\/api\//;
  await page.context().route(calls, (route) => route.abort());
  // Other tests have left sessions open.
  const before = await openSessions();
  await lockNow(page);
  expect(await openSessions()).toBe(before);
  await page.reload();
  await locked(page).waitFor();
  expect(await readable(page)).not.toContain('UNHEARD00001');
  await page.context().unroute(calls);
  await until(async () => (await openSessions()) === before - 1);
  await locked(page).waitFor();
  await logInAgain(page);
});

/** After a reload, the parcel in work is still there. */
async function logInAgain(page: Page): Promise<void> {
  await unlock(page);
  await page.getByText('UNHEARD00001').first().waitFor();
}
