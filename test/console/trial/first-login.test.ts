import { expect } from '@jest/globals';
import { countClicks } from '../../support/console/clicks.js';
import { consoleSuite } from '../../support/console/suite.js';
import { noteClicks } from './trial.js';

// What the owner of a new courier does first.

const MOST = 4;
const { open, runs, service } = consoleSuite();

runs(`begins with a one-time password, and sees what is left to set up: at most ${MOST} clicks`, async () => {
  const { body } = await service().call('manageCouriers', {
    as: 'admin',
    body: {
      action: 'create',
      courier_code: 'NEW',
      courier_name: 'New Courier',
      house_color: '#2B5FA8',
      login: { username: 'new', full_name: 'Nora New' },
    },
  });
  const { one_time_password: password } = body['data'].login;
  const { page } = await open();
  const clicks = await countClicks(page);
  await page.getByLabel('User name').fill('new');
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByLabel('Password that you logged in with').fill(password);
  await page.getByLabel('New password', { exact: true }).fill('seven parcels on a wet quay');
  await page.getByLabel('New password again').fill('seven parcels on a wet quay');
  await page.getByRole('button', { name: 'Save the password' }).click();
  await page.getByRole('heading', { name: 'Set up your courier' }).waitFor();
  await page.getByRole('link', { name: 'Connect your system with a webhook' }).click();
  await page.getByRole('button', { name: 'Set the address' }).first().waitFor();
  noteClicks('iex', clicks(), MOST, 'begins with a one-time password, and sees what is left to set up');
  expect(clicks()).toBeGreaterThan(0);
  expect(clicks()).toBeLessThanOrEqual(MOST);
});
