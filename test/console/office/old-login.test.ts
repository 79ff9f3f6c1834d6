import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { ageLogin } from '../../support/console/age-login.js';
import { consoleSuite } from '../../support/console/suite.js';

// What lets somebody read on after a stolen session asks for the password of the person (decision 0135).

const { it, service } = consoleSuite();
const CODE = 'HRB';

async function confirmWith(page: Page, password: string): Promise<void> {
  const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
  await question.getByText('You logged in more than 15 minutes ago').waitFor();
  await question.getByLabel('Your own password').fill(password);
  await question.getByRole('button', { name: 'Confirm' }).click();
}

const courier = async () => {
  const { rows } = await service().owner.query(
    'select email, api_url_add_package as url, is_active from couriers where id = $1',
    [DEMO.couriers.HRB],
  );
  return rows[0];
};

it(
  'a manager with an old login confirms the address, a URL and the activation of a courier',
  async (page) => {
    await page.goto(`${service().url}/console/couriers/${CODE}`);
    const profile = page.getByRole('region', { name: 'Profile' });
    await profile.getByLabel('E-mail').fill('desk@harbour.example');
    await ageLogin(page);
    await profile.getByRole('button', { name: 'Save', exact: true }).click();
    await confirmWith(page, DEMO.password);
    await page.getByTestId('toasts').getByText('saved').waitFor();
    expect(await courier()).toMatchObject({ email: 'desk@harbour.example' });

    await page.goto(`${service().url}/console/couriers/${CODE}/webhooks`);
    await page.locator('[name=api_url_add_package]').fill('https://harbour.example/hooks');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await confirmWith(page, DEMO.password);
    await page.getByTestId('toasts').getByText('saved').waitFor();
    expect(await courier()).toMatchObject({ url: 'https://harbour.example/hooks' });

    await page.goto(`${service().url}/console/couriers/${CODE}`);
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deactivate (1)' }).click();
    await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).click();
    await confirmWith(page, DEMO.password);
    await page.getByTestId('toasts').getByText('Undone.').waitFor();
    expect(await courier()).toMatchObject({ is_active: true });
  },
  'manager',
);

it(
  'couriers that are activated together need one answer',
  async (page) => {
    await service().owner.query('update couriers set is_active = false where tenant_id = $1', [
      DEMO.tenants.demo,
    ]);
    await page.goto(`${service().url}/console/couriers`);
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await ageLogin(page);
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await confirmWith(page, DEMO.password);
    await page
      .getByTestId('toasts')
      .getByText(/activated/i)
      .waitFor();
    const { rows } = await service().owner.query(
      'select 1 from couriers where not is_active and tenant_id = $1',
      [DEMO.tenants.demo],
    );
    expect(rows).toEqual([]);
  },
  'manager',
);

it(
  'an administrator with an old login confirms a looser security setting',
  async (page) => {
    await service().call('updateSecuritySettings', { as: 'admin', body: { idle_timeout_minutes: 30 } });
    await page.goto(`${service().url}/console/settings/security`);
    await page.locator('[name=idle_timeout_minutes]').fill('60');
    await ageLogin(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change for all users' }).click();
    await confirmWith(page, DEMO.password);
    await page.getByTestId('toasts').getByText('are changed').waitFor();
    const { rows } = await service().owner.query(
      'select idle_timeout_minutes as minutes from security_settings',
    );
    expect(rows).toEqual([{ minutes: 60 }]);
  },
  'admin',
);
