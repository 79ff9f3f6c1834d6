import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, scan, type } from '../../support/console/browser.js';
import { loginPage } from '../../support/console/locked.js';
import { consoleSuite, expectWord, weightsOf } from '../../support/console/suite.js';
import { insertUsers } from '../../support/builders/users.js';

const { it, service } = consoleSuite();

it('what a user has left in a tab is handed over when the next user scans there, without its weight', async (page) => {
  await insertUsers(service().owner, 1);
  await scan(page, 'LEFTPARCEL01');
  await expectWord(page, 'UNKNOWN');
  await type(page, '4.5');
  const tab = await page.context().newPage();
  await tab.goto(`${service().url}/console`);
  await tab.getByRole('button', { name: /Account/ }).click();
  await tab.getByRole('button', { name: 'Log out', exact: true }).click();
  await loginPage(tab);
  await logIn(tab, 'spare-1', DEMO.password);
  await page.getByRole('button', { name: /Spare User 1/ }).waitFor();
  expect(await page.getByText('LEFTPARCEL01').count()).toBe(0);
  await page.bringToFront();
  await scan(page, 'LEFTPARCEL02');
  await expectWord(page, 'UNKNOWN');
  await page.getByRole('button', { name: 'Take it LEFTPARCEL01' }).waitFor();
  expect(await page.getByLabel('Weight').inputValue()).toBe('');
  expect(await weightsOf(service(), 'LEFTPARCEL01')).toEqual([]);
});
