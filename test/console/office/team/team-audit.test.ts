import { expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const login = (username: string, password: string) =>
  service().call('login', { body: { action: 'login', username, password } });

it(
  'an administrator creates a user, resets its password, and disables it',
  async (page) => {
    await page.goto(`${service().url}/console/team`);
    await page.getByRole('button', { name: 'New user' }).click();
    const dialog = page.getByRole('dialog', { name: 'New user' });
    await dialog.getByLabel('User name').fill('dock two');
    await dialog.getByLabel('Full name').fill('Dana Dock');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('[name=username][aria-invalid=true]').waitFor();
    await dialog.getByLabel('User name').fill('dock2');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = page.getByRole('dialog', { name: 'One-time password of dock2' });
    const first = (await secret.getByTestId('secret').textContent()) ?? '';
    expect((await login('dock2', first)).status).toBe(200);
    await secret.getByRole('button', { name: 'I have stored it' }).click();

    await page.getByLabel('Name, user name or e-mail').fill('dock2');
    await page.locator('.grid tbody tr').filter({ hasText: 'Dana Dock' }).click();
    const panel = page.getByRole('complementary', { name: 'dock2' });
    await panel.getByRole('button', { name: 'Reset the password' }).click();
    const question = page.getByRole('dialog', { name: 'Reset the password' });
    await question.getByText('logged out everywhere at once').waitFor();
    await question.getByRole('button', { name: 'Reset the password' }).click();
    const second = (await secret.getByTestId('secret').textContent()) ?? '';
    await secret.getByRole('button', { name: 'I have stored it' }).click();
    expect([(await login('dock2', first)).status, (await login('dock2', second)).status]).toEqual([401, 200]);

    await panel.getByRole('button', { name: 'Disable the user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable the user' }).click();
    await panel.getByRole('button', { name: 'Enable the user' }).waitFor();
    expect((await login('dock2', second)).status).toBe(403);
  },
  'admin',
);

it(
  'an administrator finds who has changed a record, and verifies the log',
  async (page) => {
    await service().call('updateCustomer', {
      as: 'manager',
      body: { courier_customer_id: await idOf('IEX-1002'), branch: 'North pier' },
    });
    await page.goto(`${service().url}/console/audit`);
    await page.getByLabel('Kind of record').fill('customer');
    await page.keyboard.press('Enter');
    await page.waitForURL(/entity=customer/);
    await page.locator('.grid tbody tr').first().click();
    const panel = page.getByRole('complementary');
    await panel
      .getByRole('row', { name: /branch/ })
      .getByText('North pier')
      .waitFor();
    await panel.getByText('manager', { exact: true }).waitFor();
    await panel.getByRole('button', { name: 'Everything of this record' }).click();
    await page.waitForURL(/entity_id=/);
    await page.getByRole('button', { name: 'Verify the log' }).click();
    await page
      .getByTestId('verified')
      .getByText(/^Intact\. Entries verified: \d/)
      .waitFor();
  },
  'admin',
);

async function idOf(code: string): Promise<string> {
  const { rows } = await service().owner.query<{ id: string }>(
    'select id from customers where tenant_id = $1 and courier_id = $2 and user_code = $3',
    [DEMO.tenants.demo, DEMO.couriers.IEX, code],
  );
  return rows[0]?.id ?? '';
}
