import { expect } from '@jest/globals';
import { DEMO } from '../../../../fixtures/demo/seed.js';
import { ageLogin } from '../../../support/console/age-login.js';
import { findingsOf } from '../../../support/console/browser.js';
import { consoleSuite } from '../../../support/console/suite.js';

const { it, service } = consoleSuite();

const hashOf = async (username: string) => {
  const { rows } = await service().owner.query<{ password_hash: string }>(
    'select password_hash from users where username = $1 and tenant_id = $2',
    [username, DEMO.tenants.demo],
  );
  return rows[0]?.password_hash;
};

const insertColleague = () =>
  service().owner.query(
    `insert into users (tenant_id, id, username, full_name, role, courier_id, is_courier_owner, password_hash)
     select tenant_id, new_id(), 'iex.second', 'Second', 'courier', $2, false, password_hash from users where id = $1
     on conflict do nothing`,
    [DEMO.users.admin, DEMO.couriers.IEX],
  );

const PEOPLE = [
  { who: 'an administrator', user: 'admin', of: 'warehouse' },
  { who: 'a manager', user: 'manager', of: 'warehouse' },
  { who: 'an owner of a courier', user: 'iex', of: 'iex.second' },
];

for (const { who, user, of } of PEOPLE)
  it(
    `${who} with an old login confirms a reset with the own password, or gives it up`,
    async (page) => {
      await insertColleague();
      await page.evaluate(
        user === 'iex' ? `location.hash = '#/team/${of}'` : `location.href = '/console/team/${of}'`,
      );
      const panel = page.getByRole('complementary', { name: of });
      await panel.getByRole('button', { name: 'Reset the password' }).waitFor();
      await ageLogin(page);
      const before = await hashOf(of);
      await panel.getByRole('button', { name: 'Reset the password' }).click();
      const question = page.getByRole('dialog', { name: 'Reset the password' });
      await question.getByRole('button', { name: 'Reset the password' }).click();
      const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await confirm.getByText('You logged in more than 15 minutes ago').waitFor();
      expect(await findingsOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await question.getByRole('alert').getByText('Nothing was changed.').waitFor();
      expect(await hashOf(of)).toBe(before);

      await question.getByRole('button', { name: 'Reset the password' }).click();
      const password = confirm.getByLabel('Your own password');
      await password.fill('a wrong one');
      await confirm.getByRole('button', { name: 'Confirm' }).click();
      await confirm.locator('[name=current_password][aria-invalid=true]').waitFor();
      expect(await hashOf(of)).toBe(before);
      await password.fill(DEMO.password);
      await confirm.getByRole('button', { name: 'Confirm' }).click();
      const secret = page.getByRole('dialog', { name: `One-time password of ${of}` });
      expect(await secret.getByTestId('secret').textContent()).toMatch(/^\w{4}(-\w{4}){3}$/);
      expect(await hashOf(of)).not.toBe(before);
    },
    user,
  );
