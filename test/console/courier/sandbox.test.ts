import { expect } from '@jest/globals';
import { findingsOf } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { callBelow } from '../../support/fixture/sandboxes.js';

const { it, service } = consoleSuite();

it(
  'a courier makes a sandbox, reads its credentials once, and ends it',
  async (page) => {
    await page.evaluate("location.hash = '#/developers'");
    await page.getByRole('button', { name: 'Sandbox …' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sandbox' });
    await dialog.getByRole('button', { name: 'Make a sandbox' }).click();
    await dialog.getByText('Store the key and the token now').waitFor();
    const secretOf = async (name: string) =>
      String(await dialog.getByRole('region', { name }).getByTestId('secret').textContent());
    const url = new URL(await secretOf('Base URL'));
    const token = await secretOf('Service token of the sandbox');
    const status = async () => (await callBelow(service(), url.pathname, 'listPrealerts', { token })).status;
    expect(await status()).toBe(200);
    expect(await findingsOf(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'End the sandbox' }).click();
    const question = page.getByRole('dialog', { name: 'End the sandbox' });
    await question.getByText('stop working at once').waitFor();
    await question.getByRole('button', { name: 'End the sandbox' }).click();
    await dialog.getByText('You have no sandbox.').waitFor();
    expect(await status()).not.toBe(200);
  },
  'iex',
);
