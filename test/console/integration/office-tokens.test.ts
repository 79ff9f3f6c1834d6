import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';

// Service tokens on the pages of the staff: those of a courier, and those of the warehouse itself.

const { atWork, open, runs, service } = consoleSuite();

const statusWith = async (token: string) => (await service().call('listPackages', { token })).status;

const dialogOf = (page: Page) => page.getByRole('dialog');
const rowOf = (page: Page, name: string) => page.getByRole('row', { name });

async function create(page: Page, name: string, scope: string): Promise<string> {
  await page.getByRole('button', { name: 'New token' }).click();
  await dialogOf(page).getByRole('textbox', { name: 'Name' }).fill(name);
  await dialogOf(page).getByLabel(scope).check();
  await dialogOf(page).getByLabel('Password').fill(DEMO.password);
  await page.getByRole('button', { name: 'Create' }).click();
  return stored(page);
}

/** Reads the secret that is shown once. */
async function stored(page: Page): Promise<string> {
  const secret = (await page.getByTestId('token-secret').textContent()) ?? '';
  expect(secret).toMatch(/^cdk_[0-9A-Za-z]{92}$/);
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await dialogOf(page).waitFor({ state: 'detached' });
  return secret;
}

runs('a manager makes a token for a courier, renews and revokes it, and the courier sees it', async () => {
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/couriers/IEX/tokens`);
  await page.getByRole('button', { name: 'New token' }).click();
  // Scopes of the staff are not for couriers.
  expect(await dialogOf(page).getByRole('checkbox').count()).toBe(5);
  // A second click at once is taken for a double one.
  await page.reload();
  const first = await create(page, 'web shop', 'Read packages');
  await rowOf(page, 'web shop')
    .getByText(`…${first.slice(-6)}`)
    .waitFor();
  const { body } = await service().call('listServiceTokens', { as: 'iex' });
  expect(body['data']).toMatchObject([{ name: 'web shop', courier_id: DEMO.couriers.IEX }]);
  expect(await statusWith(first)).toBe(200);
  expect(await findingsOf(page)).toEqual([]);

  const courier = await atWork({ user: 'iex' });
  await courier.evaluate("location.hash = '#/tokens'");
  await rowOf(courier, 'web shop').waitFor();
  const other = await atWork({ user: 'hrb' });
  await other.evaluate("location.hash = '#/tokens'");
  await other.getByText('No tokens yet.').waitFor();

  await rowOf(page, 'web shop').getByRole('button', { name: 'New secret' }).click();
  await dialogOf(page).getByLabel('Password').fill(DEMO.password);
  await dialogOf(page).getByRole('button', { name: 'New secret' }).click();
  const second = await stored(page);
  await rowOf(page, 'web shop')
    .getByText(`The old one, …${first.slice(-6)}`)
    .waitFor();
  await rowOf(page, 'web shop').getByRole('button', { name: 'Revoke' }).click();
  await dialogOf(page).getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet.').waitFor();
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 401]);
});

runs('an administrator makes a token of the staff in Settings, which a manager does not see', async () => {
  const page = await atWork({ user: 'admin' });
  await page.goto(`${service().url}/console/settings/tokens`);
  const secret = await create(page, 'conveyor', 'Receive and scan packages');
  await rowOf(page, 'conveyor').getByText('Receive and scan packages').waitFor();
  const { body } = await service().call('listServiceTokens', { as: 'admin' });
  expect(body['data']).toMatchObject([{ name: 'conveyor', courier_id: null, scopes: ['intake:write'] }]);
  // It may only what was chosen.
  expect(await statusWith(secret)).toBe(403);
  expect(await findingsOf(page)).toEqual([]);

  const manager = await atWork({ user: 'manager' });
  await manager.goto(`${service().url}/console/settings`);
  await manager.getByRole('link', { name: 'Carriers' }).waitFor();
  expect(await manager.getByRole('link', { name: 'Service tokens' }).count()).toBe(0);
  await manager.goto(`${service().url}/console/settings/tokens`);
  await manager.getByRole('link', { name: 'Settings' }).first().waitFor();
  expect(await manager.getByText('conveyor').count()).toBe(0);
});

runs(
  'the tab and its dialogs fit on a phone, in Spanish and in the dark, without a finding of axe',
  async () => {
    const { page } = await open({ width: 390, colorScheme: 'dark', locale: 'es-ES', isQuiet: false });
    await logIn(page, 'admin', DEMO.password);
    await page.locator('.workplace').waitFor();
    for (const path of ['couriers/HRB/tokens', 'settings/tokens']) {
      await page.goto(`${service().url}/console/${path}`);
      await page.getByRole('button', { name: 'Nuevo token' }).click();
      await dialogOf(page).getByRole('textbox', { name: 'Nombre' }).fill('tienda');
      expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
      expect(await findingsOf(page)).toEqual([]);
    }
  },
);
