import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../support/console/suite.js';
import { agedToken } from '../../support/sign-in/aged-token.js';

const { it, service } = consoleSuite();

/** Makes the login of the page 16 minutes old. */
async function age(page: Page): Promise<void> {
  const cookies = await page.context().cookies();
  await page
    .context()
    .addCookies(cookies.map((cookie) => ({ ...cookie, value: agedToken(cookie.value, 16) })));
}

const hashOf = async (username: string) => {
  const { rows } = await service().owner.query<{ password_hash: string }>(
    'select password_hash from users where username = $1 and tenant_id = $2',
    [username, DEMO.tenants.demo],
  );
  return rows[0]?.password_hash;
};

it(
  'an administrator with an old login confirms a reset with the own password, or gives it up',
  async (page) => {
    await page.goto(`${service().url}/console/team/warehouse`);
    const panel = page.getByRole('complementary', { name: 'warehouse' });
    await panel.getByRole('button', { name: 'Reset the password' }).waitFor();
    await age(page);
    const before = await hashOf('warehouse');
    await panel.getByRole('button', { name: 'Reset the password' }).click();
    const question = page.getByRole('dialog', { name: 'Reset the password' });
    await question.getByRole('button', { name: 'Reset the password' }).click();
    const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await confirm.getByText('You logged in more than 15 minutes ago').waitFor();
    await page.keyboard.press('Escape');
    await question.getByRole('alert').getByText('Nothing was changed.').waitFor();
    expect(await hashOf('warehouse')).toBe(before);

    await question.getByRole('button', { name: 'Reset the password' }).click();
    const password = confirm.getByLabel('Your own password');
    await password.fill('a wrong one');
    await confirm.getByRole('button', { name: 'Confirm' }).click();
    await confirm.locator('[name=current_password][aria-invalid=true]').waitFor();
    expect(await hashOf('warehouse')).toBe(before);
    await password.fill(DEMO.password);
    await confirm.getByRole('button', { name: 'Confirm' }).click();
    const secret = page.getByRole('dialog', { name: 'One-time password of warehouse' });
    expect(await secret.getByTestId('secret').textContent()).toMatch(/^\w{4}(-\w{4}){3}$/);
    expect(await hashOf('warehouse')).not.toBe(before);
  },
  'admin',
);
