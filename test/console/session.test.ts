import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import speakeasy from 'speakeasy';
import { DEMO, DEMO_BACKUP_CODES } from '../../fixtures/demo/demo.js';
import {
  findingsOf,
  logIn,
  openStation,
  outcomeOf,
  personalPause,
  scan,
  type,
} from '../support/console/browser.js';
import { consoleSuite, weightsOf } from '../support/console/suite.js';

const { it, open, runs, service } = consoleSuite({ worksOffline: true });

/** Of the office, where managers begin. */
const homePage = (page: Page) => page.getByRole('heading', { level: 1, name: 'Home' });
const receivePage = (page: Page) => page.getByRole('heading', { level: 1, name: 'Receive' });

/** Ends the sessions of the user of these tests. */
const endSessions = () =>
  service().owner.query(
    "update sessions set ended_at = now(), end_reason = 'revoked' where user_id = $1 and ended_at is null",
    [DEMO.users.warehouse],
  );

/** Creates a warehouse user, who gets a one-time password. */
async function newUser(username: string): Promise<string> {
  const user = { username, full_name: 'New Person', email: `${username}@example.com`, role: 'warehouse' };
  const { body } = await service().call('manageUsers', { as: 'admin', body: { action: 'create', ...user } });
  return String(body['data'].one_time_password);
}

/** A script of the page that adds a NUL character to a scan that waits, as a fault of the device would. */
const addNul = (code: string) => `new Promise((resolve, reject) => {
  const opening = indexedDB.open('crossdock-queue');
  opening.onsuccess = () => {
    const transaction = opening.result.transaction('scans', 'readwrite');
    const store = transaction.objectStore('scans');
    store.getAll().onsuccess = ({ target }) => {
      const waiting = target.result.find(({ request }) => request.scan === '${code}');
      store.put({ ...waiting, request: { ...waiting.request, scan: '${code}\\0' } });
    };
    transaction.oncomplete = () => {
      new BroadcastChannel('crossdock-queue').postMessage('changed');
      resolve();
    };
    transaction.onerror = () => reject(transaction.error);
  };
})`;

describe('the session', () => {
  it('ends in the middle of work: nothing on the screen or in the queue is lost', async (page) => {
    await receivePage(page).waitFor();
    await scan(page, 'EXPIRY000001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(page, '4.5');
    await endSessions();
    await page.keyboard.press('Enter');

    // The scan is stored and waits. The user logs in over the page.
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.waitFor();
    expect(await outcomeOf(page).textContent()).toBe('SAVED');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await dialog.getByLabel('Password').focus();
    await type(page, DEMO.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    const { rows } = await service().owner.query(
      "select weight_lb from packages where tracking_number = 'EXPIRY000001'",
    );
    expect(rows).toEqual([{ weight_lb: '4.500' }]);

    // No script can read the token, and a reload keeps the session.
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
    );
    expect(stored).not.toContain('eyJ');
    expect(page.url()).not.toContain('eyJ');
    await page.reload();
    await receivePage(page).waitFor();
  });

  it('keeps asking for the password, however often somebody presses Escape, and sends what waits', async (page) => {
    await receivePage(page).waitFor();
    await scan(page, 'ESCAPED00001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(page, '4.5');
    await endSessions();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.waitFor();
    for (let round = 0; round < 5; round += 1) {
      await page.keyboard.press('Escape');
      await dialog.locator('input[type=password]:focus').waitFor({ timeout: 5_000 });
    }
    await type(page, DEMO.password);
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weightsOf(service(), 'ESCAPED00001')).toEqual([4.5]);
  });

  it('asks for the password in front of a dialog that opens later, which stays for the user', async (page) => {
    await receivePage(page).waitFor();
    await scan(page, 'INFRONT00001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(page, '4.5');
    await endSessions();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Log in again' });
    await dialog.waitFor();
    await type(page, DEMO.password.slice(0, 3));
    await page.keyboard.press('F1');
    const help = page.getByRole('dialog', { name: 'Keys' });
    await help.waitFor();
    // Nothing covers the field, and the keys go on where they were.
    await dialog.locator('input[type=password]').click({ timeout: 5_000, trial: true });
    expect(await findingsOf(page)).toEqual([]);
    await type(page, DEMO.password.slice(3));
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await help.waitFor({ state: 'detached' });
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await weightsOf(service(), 'INFRONT00001')).toEqual([4.5]);
  });

  it('that is logged out while a scan waits for the login sends it after the next login', async (page) => {
    await receivePage(page).waitFor();
    await scan(page, 'LOGOUT000001');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await type(page, '4.5');
    await endSessions();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Log in again' }).waitFor();
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await page.getByRole('button', { name: 'I am somebody else' }).click();
    await logIn(page, 'warehouse', DEMO.password);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    const { rowCount } = await service().owner.query(
      "select from packages where tracking_number = 'LOGOUT000001'",
    );
    expect(rowCount).toBe(1);
  });

  it('of another user does not send the scans of the first, and says that they wait', async (page) => {
    await receivePage(page).waitFor();
    await page.context().setOffline(true);
    await scan(page, 'OTHERS000001');
    await outcomeOf(page).filter({ hasText: 'WEIGH' }).waitFor();
    await type(page, '1');
    await page.keyboard.press('Enter');
    await page.getByTestId('queue').getByText('1 waiting').waitFor();
    await personalPause(page);
    await page.getByRole('button', { name: /Account/ }).press('Enter');
    await personalPause(page);
    await page.getByRole('button', { name: 'Log out' }).press('Enter');
    await page.context().setOffline(false);
    await logIn(page, 'manager', DEMO.password);
    await page.getByText('Scans and corrections of Demo Warehouse wait on this device: 1').waitFor();
    const received = () =>
      service()
        .owner.query("select from packages where tracking_number = 'OTHERS000001'")
        .then(({ rowCount }) => rowCount);
    expect(await received()).toBe(0);

    await page.getByRole('button', { name: /Account/ }).press('Enter');
    await page.getByRole('button', { name: 'Log out' }).press('Enter');
    await logIn(page, 'warehouse', DEMO.password);
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    expect(await received()).toBe(1);
  });

  it('sends the other scans if the service cannot read one, which a person sees', async (page) => {
    await receivePage(page).waitFor();
    await page.context().setOffline(true);
    const numbers = ['FAULTY000001', 'FAULTY000002', 'FAULTY000003'];
    for (const [index, number] of numbers.entries()) {
      await scan(page, number);
      await outcomeOf(page).filter({ hasText: 'WEIGH' }).waitFor();
      await type(page, '1');
      await page.keyboard.press('Enter');
      await page
        .getByTestId('queue')
        .getByText(`${index + 1} waiting`)
        .waitFor();
    }
    // The service refuses a batch as a whole if a text of it contains this character.
    await page.evaluate(addNul('FAULTY000002'));
    // Before the page has read it again, it would send the scan that it remembers.
    await page.waitForFunction("document.body.textContent.includes('FAULTY000002\\0')");
    await page.context().setOffline(false);
    await page.getByTestId('attention').locator('summary').click();
    await page.getByTestId('attention').getByText('NOT READ').waitFor();
    await page
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    const { rows } = await service().owner.query<{ number: string }>(
      "select tracking_number as number from packages where tracking_number like 'FAULTY%' order by 1",
    );
    expect(rows.map(({ number }) => number)).toEqual(['FAULTY000001', 'FAULTY000003']);
    await page.getByRole('button', { name: /^Dismiss/ }).press('Enter');
    await page.getByTestId('attention').waitFor({ state: 'detached' });
  });

  runs('begins with a second factor, after a wrong password and a wrong code', async () => {
    const { page } = await open();
    await logIn(page, 'guarded', 'not-the-password');
    await page.getByText('User name or password does not match').waitFor();
    await page.getByLabel('Password').fill(DEMO.password);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code').waitFor();
    await page.keyboard.type('ZZZZ-ZZZZ');
    await page.keyboard.press('Enter');
    await page.getByText('The code does not match').waitFor();
    await page.getByLabel('Password').press('Enter');
    await page.getByLabel('Code').waitFor();
    await page.keyboard.type(DEMO_BACKUP_CODES[0] ?? '');
    await page.keyboard.press('Enter');
    await homePage(page).waitFor();
    expect(await homePage(page).isVisible()).toBe(true);
  });

  runs(
    'of a new user begins with a password of its own and, if the role needs it, a second factor',
    async () => {
      const oneTime = await newUser('newcomer');
      await service().call('updateSecuritySettings', {
        as: 'admin',
        body: { require_two_factor: ['warehouse'] },
      });
      const { page } = await open();
      await logIn(page, 'newcomer', oneTime);
      await page.getByRole('heading', { name: 'Choose a new password' }).waitFor();
      expect(await findingsOf(page)).toEqual([]);
      const own = 'seven parcels on a wet quay';
      await page.getByLabel('Password that you logged in with').fill(oneTime);
      await page.getByLabel('New password', { exact: true }).fill(own);
      await page.getByLabel('New password again').fill(own);
      await page.keyboard.press('Enter');

      await page.getByRole('heading', { name: 'Set up the second factor' }).waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await page.getByLabel('Password').fill(own);
      await page.keyboard.press('Enter');
      const secret = await page.locator('p.mono').textContent();
      await page
        .getByLabel('Code', { exact: true })
        .fill(speakeasy.totp({ secret: secret ?? '', encoding: 'base32' }));
      await page.keyboard.press('Enter');
      await personalPause(page);
      await page.getByRole('button', { name: 'I have stored the codes' }).press('Enter');
      await receivePage(page).waitFor();
      expect(await receivePage(page).isVisible()).toBe(true);
    },
  );

  it(
    'opens the workplace and the account without a connection, after a reload',
    async (page) => {
      await page.locator('.workplace').waitFor();
      await page.evaluate('navigator.serviceWorker.ready');
      await openStation(page);
      await page.context().setOffline(true);
      await page.reload();
      await receivePage(page).waitFor();
      await page.getByRole('button', { name: /Account/ }).click();
      await page.getByRole('button', { name: 'Change the password' }).click();
      await page.getByRole('dialog').getByLabel('New password again').waitFor();
    },
    'manager',
  );

  runs('says that a part cannot be loaded, and loads it when the person tries again', async () => {
    // A service worker would have the files already.
    const { page } = await open({ serviceWorkers: 'block' });
    await page.getByLabel('User name').waitFor();
    const late = /\/console\/assets\/part-/;
    await page.context().route(late, (route) => route.abort());
    await logIn(page, 'manager', DEMO.password);
    await page.getByRole('alert').filter({ hasText: 'cannot be loaded' }).waitFor();
    expect(await page.locator('.workplace').count()).toBe(0);
    await page.context().unroute(late);
    await page.getByRole('button', { name: 'Try again' }).click();
    await homePage(page).waitFor();
  });
});
