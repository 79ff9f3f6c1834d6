import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const toasts = (page: Page) => page.getByTestId('toasts');
const open = async (page: Page, path: string) => {
  await page.goto(`${service().url}/console/settings${path}`);
};

const warehouses = async () => {
  const { rows } = await service().owner.query<Record<string, unknown>>(
    'select name, loading_gate, is_primary from warehouses where tenant_id = $1 order by name',
    [DEMO.tenants.demo],
  );
  return rows;
};
const warehouse = async (name: string) => (await warehouses()).find((row) => row['name'] === name);

it(
  'the gate of loading and the primary warehouse are changed and undone',
  async (page) => {
    await open(page, '');
    await page.locator('.grid tbody tr').filter({ hasText: 'Medley Overflow' }).click();
    await page.waitForURL(`**/console/settings/warehouses?of=${DEMO.warehouses.second}`);
    const panel = page.getByRole('complementary', { name: 'Medley Overflow' });
    await panel.getByLabel('Gate of loading').click();
    await toasts(page).getByText('Medley Overflow: manifests ship only when').waitFor();
    expect(await warehouse('Medley Overflow')).toMatchObject({ loading_gate: true });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await toasts(page).getByText('Undone.').waitFor();
    expect(await warehouse('Medley Overflow')).toMatchObject({ loading_gate: false });
    await panel.getByRole('button', { name: 'Make primary' }).click();
    await panel.getByText('This is the primary warehouse').waitFor();
    expect(await warehouse('Miami Gateway')).toMatchObject({ is_primary: false });
    await toasts(page).getByRole('button', { name: 'Undo' }).click();
    await panel.getByRole('button', { name: 'Make primary' }).waitFor();
    expect(await warehouse('Miami Gateway')).toMatchObject({ is_primary: true });
  },
  'manager',
);

it(
  'a warehouse is created, its name that is taken is refused at its field, and it is deleted after a question',
  async (page) => {
    await open(page, '/warehouses?new=warehouse');
    const dialog = page.getByRole('dialog', { name: 'New warehouse' });
    await dialog.getByLabel('Name').fill('medley overflow');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('[name=name][aria-invalid=true]').waitFor();
    await dialog.getByLabel('Name').fill('Kingston Annex');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await warehouse('Kingston Annex')).toMatchObject({ loading_gate: false, is_primary: false });
    await page.locator('.grid tbody tr').filter({ hasText: 'Kingston Annex' }).click();
    const panel = page.getByRole('complementary', { name: 'Kingston Annex' });
    await panel.getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete Kingston Annex' });
    await question.getByText('deleted for ever').waitFor();
    await question.getByRole('button', { name: 'Delete the warehouse' }).click();
    await panel.waitFor({ state: 'detached' });
    expect(await warehouse('Kingston Annex')).toBe(undefined);
  },
  'manager',
);

it(
  'a carrier is created and renamed with an undo, and one that brought parcels is not deleted',
  async (page) => {
    await open(page, '/carriers');
    await page.getByRole('button', { name: 'New carrier' }).click();
    const dialog = page.getByRole('dialog', { name: 'New carrier' });
    await dialog.getByLabel('Name').fill('Purolator');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('.grid tbody tr').filter({ hasText: 'Purolator' }).click();
    const panel = page.getByRole('complementary', { name: 'Purolator' });
    await panel.getByRole('button', { name: 'Rename' }).click();
    const rename = page.getByRole('dialog', { name: 'Rename' });
    await rename.getByLabel('Name').fill('Purolator Ground');
    await rename.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('complementary', { name: 'Purolator Ground' }).waitFor();
    await toasts(page)
      .locator('.toast')
      .filter({ hasText: 'Purolator Ground is saved.' })
      .getByRole('button', { name: 'Undo' })
      .click();
    await page.getByRole('complementary', { name: 'Purolator', exact: true }).waitFor();
    const names = async () => {
      const { rows } = await service().owner.query<{ name: string }>(
        'select name from carriers where tenant_id = $1',
        [DEMO.tenants.demo],
      );
      return rows.map(({ name }) => name);
    };
    expect(await names()).toContain('Purolator');
    await page.locator('.grid tbody tr').filter({ hasText: 'UPS' }).click();
    await page.getByRole('complementary', { name: 'UPS' }).getByRole('button', { name: 'Delete' }).click();
    const question = page.getByRole('dialog', { name: 'Delete UPS' });
    await question.getByRole('button', { name: 'Delete the carrier' }).click();
    await question.getByRole('alert').waitFor();
    expect(await names()).toContain('UPS');
  },
  'manager',
);

it(
  'an administrator changes the security after a question that names the effect',
  async (page) => {
    await open(page, '/security');
    await page.getByLabel(/^End a session/).fill('30');
    await page.getByLabel('Courier', { exact: true }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    const question = page.getByRole('dialog', { name: 'Change the security of all users' });
    await question.getByText('until they have one, also in open sessions: Courier.').waitFor();
    await question.getByText('no request for 30 minutes ends').waitFor();
    // The focus is on the harmless button.
    await page.keyboard.press('Enter');
    await question.waitFor({ state: 'detached' });
    const stored = async () => {
      const { body } = await service().call('getSecuritySettings', { as: 'admin' });
      return body['data'];
    };
    expect(await stored()).toMatchObject({ require_two_factor: [], idle_timeout_minutes: null });
    await page.getByRole('button', { name: 'Save' }).click();
    await question.getByRole('button', { name: 'Change for all users' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ require_two_factor: ['courier'], idle_timeout_minutes: 30 });
  },
  'admin',
);

it(
  'a manager sees no part for the security',
  async (page) => {
    await open(page, '/security');
    await page.getByText('This page does not exist').waitFor();
    expect(await page.getByRole('link', { name: 'Security' }).count()).toBe(0);
  },
  'manager',
);
