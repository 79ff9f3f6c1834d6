import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';

// The teams of managers and of couriers. Those of administrators are in team-audit.test.ts.

const { atWork, it, open, runs, service } = consoleSuite();

const insertUser = (username: string, courier: string | null, isOwner = true) =>
  service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, courier_id, is_courier_owner, password_hash)
     select tenant_id, new_id(), $2, initcap($2), case when $3::uuid is null then 'warehouse' else 'courier' end, $3, $4, password_hash
     from users where id = $1`,
    [DEMO.users.admin, username, courier, isOwner],
  );

const userNamed = async (username: string) =>
  (
    await service().owner.query<Record<string, unknown>>('select * from users where username = $1', [
      username,
    ])
  ).rows[0];

const panelOf = (page: Page, username: string) => page.getByRole('complementary', { name: username });
const confirm = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name }).click();

it(
  'a manager moves a user to a courier, disables it, and enables it again',
  async (page) => {
    await insertUser('mover', null);
    await page.goto(`${service().url}/console/team/mover`);
    const panel = panelOf(page, 'mover');
    await panel.getByRole('button', { name: 'Change the role' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change the role' });
    await dialog.getByText('all of its sessions end').waitFor();
    const role = dialog.getByLabel('Role', { exact: true });
    expect(await role.locator('option').allTextContents()).toEqual(['Warehouse', 'Courier']);
    await role.selectOption('courier');
    await dialog.getByLabel('Courier', { exact: true }).selectOption(DEMO.couriers.HRB);
    await confirm(page, 'Change the role');
    await panel.getByRole('link', { name: 'HRB' }).or(panel.getByText('HRB')).first().waitFor();
    expect(await userNamed('mover')).toMatchObject({
      courier_id: DEMO.couriers.HRB,
      is_courier_owner: false,
    });

    await panel.getByRole('button', { name: 'Disable the user' }).click();
    await page.getByRole('dialog').getByText('cannot log in until').waitFor();
    await confirm(page, 'Disable the user');
    await panel.getByRole('button', { name: 'Enable the user' }).click();
    await panel.getByRole('button', { name: 'Disable the user' }).waitFor();
    expect(await panel.getByRole('button', { name: 'End all sessions' }).count()).toBe(0);
    expect(await findingsOf(page)).toEqual([]);

    await page.goto(`${service().url}/console/team/admin`);
    await page.getByText('There is no user admin').waitFor();
    await page.goto(`${service().url}/console/couriers/HRB/users`);
    await page.getByRole('link', { name: 'mover' }).waitFor();
  },
  'manager',
);

runs('a colleague of a courier begins with the one-time password that an owner gives it', async () => {
  const page = await atWork({ user: 'iex' });
  await insertUser('iex.old', DEMO.couriers.IEX);
  await page.evaluate("location.hash = '#/team/iex.old'");
  const panel = panelOf(page, 'iex.old');
  await panel.getByRole('button', { name: 'Reset the password' }).click();
  await page.getByRole('dialog').getByText('logged out everywhere at once').waitFor();
  await confirm(page, 'Reset the password');
  const password = (await page.getByTestId('secret').textContent()) ?? '';
  await page.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(password);

  const { page: other } = await open();
  await other.getByLabel('User name').fill('iex.old');
  await other.getByLabel('Password').fill(password);
  await other.getByRole('button', { name: 'Log in' }).click();
  await other.getByLabel('Password that you logged in with').fill(password);
  await other.getByLabel('New password', { exact: true }).fill('seven parcels on a wet quay');
  await other.getByLabel('New password again').fill('seven parcels on a wet quay');
  await other.getByRole('button', { name: 'Save the password' }).click();
  await other.locator('.workplace').waitFor();
  expect(await userNamed('iex.old')).toMatchObject({ must_change_password: false });
});

runs('an owner renames a colleague, takes it back, and makes it a member', async () => {
  await insertUser('iex.second', DEMO.couriers.IEX);
  const page = await atWork({ user: 'iex' });
  await page.evaluate("location.hash = '#/team/iex.second'");
  const panel = panelOf(page, 'iex.second');
  await panel.getByLabel('Full name').fill('Sam Second');
  await panel.getByRole('button', { name: 'Save' }).click();
  const row = (name: string) => page.locator('.grid tbody tr').filter({ hasText: name });
  await row('Sam Second').waitFor();
  await page.getByTestId('toasts').getByRole('button', { name: 'Undo' }).click();
  await row('Iex.Second').waitFor();
  await panel.getByRole('button', { name: 'Change the role' }).click();
  expect(await page.getByRole('dialog').getByRole('combobox').count()).toBe(1);
  await page.getByRole('dialog').getByRole('combobox').selectOption('member');
  await confirm(page, 'Change the role');
  await panel.getByText('Member', { exact: true }).waitFor();
  expect(await userNamed('iex.second')).toMatchObject({ full_name: 'Iex.Second', is_courier_owner: false });
  await page.evaluate("location.hash = '#/team/iex'");
  await panelOf(page, 'iex').getByText('This is you').waitFor();
});

runs('a member of a courier sees the team without actions', async () => {
  await insertUser('iex.member', DEMO.couriers.IEX, false);
  const page = await atWork({ user: 'iex.member' });
  await page.evaluate("location.hash = '#/team/iex'");
  const panel = panelOf(page, 'iex');
  await panel.getByText('An owner of the courier can change the team.').waitFor();
  expect(await page.getByRole('button', { name: 'New user' }).count()).toBe(0);
  expect(await panel.getByRole('button', { name: /password|Disable|role|Save/ }).count()).toBe(0);
});
