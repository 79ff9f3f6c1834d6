import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import speakeasy from 'speakeasy';
import { DEMO } from '../../fixtures/demo/seed.js';
import { findingsOf } from '../support/console/browser.js';
import { consoleSuite } from '../support/console/suite.js';

const { atWork, open, runs, service } = consoleSuite();

async function openAccount(user: string, button: string): Promise<Page> {
  const page = await atWork({ user });
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: button }).click();
  return page;
}

const openSessions = async (username: string): Promise<string[]> => {
  const { rows } = await service().owner.query<{ agent: string }>(
    `select s.user_agent as agent from sessions s join users u on u.tenant_id = s.tenant_id and u.id = s.user_id
     where s.tenant_id = $1 and u.username = $2 and s.ended_at is null order by 1`,
    [DEMO.tenants.demo, username],
  );
  return rows.map(({ agent }) => agent.split('/')[0] ?? '');
};

const logInAs = (username: string, agent: string) =>
  service().call('login', {
    body: { action: 'login', username, password: DEMO.password },
    headers: { 'user-agent': agent },
  });

describe('the login', () => {
  runs('without a password says what is missing, and goes to that field', async () => {
    const { page } = await open();
    await page.getByLabel('User name').fill('manager');
    await page.keyboard.press('Enter');
    await page.getByText('Enter your user name and your password.').waitFor();
    await page.keyboard.type(DEMO.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });
});

describe('the sessions of a user', () => {
  runs('are listed, and each but the present one can be ended alone or with all others', async () => {
    for (const agent of ['Curl/8', 'Phone/1', 'Tablet/1']) await logInAs('warehouse', agent);
    const page = await openAccount('warehouse', 'Where you are logged in');
    const dialog = page.getByRole('dialog', { name: 'Where you are logged in' });
    const row = (name: string) => dialog.getByRole('row').filter({ hasText: name });
    await row('Phone/1').waitFor();
    expect(await row('This device').count()).toBe(1);
    expect(await row('This device').getByRole('button').count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);
    await row('Phone/1').getByRole('button', { name: 'Log out' }).click();
    await row('Phone/1').waitFor({ state: 'detached' });
    expect(await openSessions('warehouse')).toEqual(['Curl', 'Mozilla', 'Tablet', 'test']);
    await dialog.getByRole('button', { name: 'Log out everywhere else' }).click();
    await row('Curl/8').waitFor({ state: 'detached' });
    expect(await openSessions('warehouse')).toEqual(['Mozilla']);
    // The present session works on.
    await page.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('Alt+6');
    await page.getByText('Received today', { exact: true }).waitFor();
  });
});

describe('the second factor', () => {
  runs('can be switched off with the password and a code, and the session goes on', async () => {
    const page = await openAccount('manager', 'Set up the second factor');
    await page.getByLabel('Password').fill(DEMO.password);
    await page.getByRole('button', { name: 'Continue' }).click();
    const secret = (await page.locator('dialog p.mono').textContent()) ?? '';
    const codeIn = (steps: number) =>
      speakeasy.totp({ secret, encoding: 'base32', time: Math.floor(Date.now() / 1000) + steps * 30 });
    await page.getByLabel('Code').fill(codeIn(0));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'I have stored the codes' }).click();

    await page.getByRole('button', { name: /Account/ }).click();
    expect(await page.getByRole('button', { name: 'Set up the second factor' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Switch the second factor off' }).click();
    const dialog = page.getByRole('dialog', { name: 'Switch the second factor off' });
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByLabel('Password').fill(DEMO.password);
    await dialog.getByLabel('Code').fill('000000');
    await dialog.getByRole('button', { name: 'Switch the second factor off' }).click();
    await dialog.getByRole('alert').waitFor();
    // A code is accepted once, and the one of the next 30 seconds is accepted too.
    await dialog.getByLabel('Code').fill(codeIn(1));
    await dialog.getByRole('button', { name: 'Switch the second factor off' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Account/ }).click();
    await page.getByRole('button', { name: 'Set up the second factor' }).waitFor();
    const { status } = await service().call('login', {
      body: { action: 'login', username: 'manager', password: DEMO.password },
    });
    expect(status).toBe(200);
  });
});
