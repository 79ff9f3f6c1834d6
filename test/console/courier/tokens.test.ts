import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';

// The service tokens of a courier.

const { atWork, runs, service } = consoleSuite();

const statusWith = async (token: string) => (await service().call('listPackages', { token })).status;

runs('a courier creates a token, which is shown once, renews its secret, and revokes it', async () => {
  const page = await atWork({ user: 'iex' });
  await page.evaluate("location.hash = '#/tokens'");
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const dialog = page.getByRole('dialog');
  const readSecret = async () => {
    const secret = (await page.getByTestId('token-secret').textContent()) ?? '';
    expect(secret).toMatch(/^cdk_[0-9A-Za-z]{92}$/);
    // Only the button closes it.
    await page.keyboard.press('Escape');
    await button('I have stored it').click();
    await dialog.waitFor({ state: 'detached' });
    return secret;
  };

  await button('New token').click();
  expect(await button('Create').isDisabled()).toBe(true);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('web shop');
  await dialog.getByLabel('Read packages').check();
  // The right session is not enough.
  expect(await button('Create').isDisabled()).toBe(true);
  await dialog.getByLabel('Password').fill('guessed');
  await button('Create').click();
  await dialog.getByRole('alert').getByText('The password is wrong').waitFor();
  await dialog.getByLabel('Password').fill(DEMO.password);
  await button('Create').click();
  const first = await readSecret();
  const row = page.getByRole('row', { name: 'web shop' });
  await row.getByText(`…${first.slice(-6)}`).waitFor();
  expect(await page.content()).not.toContain(first);
  expect(await statusWith(first)).toBe(200);

  await row.getByRole('button', { name: 'New secret' }).click();
  await dialog.getByLabel('Password').fill(DEMO.password);
  await dialog.getByRole('button', { name: 'New secret' }).click();
  const second = await readSecret();
  await row.getByText(`The old one, …${first.slice(-6)}, works until`).waitFor();
  expect([await statusWith(first), await statusWith(second)]).toEqual([200, 200]);
  expect(await findingsOf(page)).toEqual([]);

  // The same name again: the service says what is wrong, and nothing is made.
  await button('New token').click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('web shop');
  await dialog.getByLabel('Webhooks').check();
  await dialog.getByLabel('Password').fill(DEMO.password);
  await button('Create').click();
  await dialog.getByRole('alert').getByText('Another active service token has this name').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await row.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No tokens yet.').waitFor();
  expect([await statusWith(first), await statusWith(second)]).toEqual([401, 401]);
});
