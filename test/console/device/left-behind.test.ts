import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { logIn, makeProfile, QUIET, scan, startKillable, type } from '../../support/console/browser.js';
import { loginPage } from '../../support/console/locked.js';
import { consoleSuite, expectWord, weightsOf } from '../../support/console/suite.js';

// What a tab had scanned and not received outlives the tab.

const { atWork, it, runs, service } = consoleSuite();

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await loginPage(page);
}

/** The disk of the browser has it by then. */
const WRITTEN_MS = 500;

runs('a parcel without Enter is shown after the browser was killed, and is not received', async () => {
  const profile = makeProfile();
  const open = async () => {
    const browser = await startKillable(profile.folder, service().url, QUIET);
    await logIn(browser.page, 'warehouse', DEMO.password);
    await browser.page.locator('.workplace').waitFor();
    return browser;
  };
  const first = await open();
  await scan(first.page, 'KILLEDTAB001');
  await expectWord(first.page, 'UNKNOWN');
  await type(first.page, '4.5');
  await first.page.waitForTimeout(WRITTEN_MS);
  await first.kill();
  const second = await open();
  await second.page.getByRole('button', { name: 'Take it KILLEDTAB001' }).click();
  await expectWord(second.page, 'UNKNOWN');
  expect(await second.page.getByLabel('Weight').inputValue()).toBe('');
  expect(await second.page.getByTestId('locked-scans').count()).toBe(0);
  expect(await weightsOf(service(), 'KILLEDTAB001')).toEqual([]);
  await second.kill();
  profile.remove();
});

it('a tab that lives keeps its parcel, also over a reload, and a closed one hands it over', async (page) => {
  await scan(page, 'LIVINGTAB001');
  await expectWord(page, 'UNKNOWN');
  const tab = await page.context().newPage();
  await tab.goto(`${service().url}/console`);
  await tab.locator('.workplace').waitFor();
  await tab.waitForTimeout(WRITTEN_MS);
  expect(await tab.getByTestId('locked-scans').count()).toBe(0);
  await page.reload();
  await page.getByText('LIVINGTAB001').first().waitFor();
  expect(await page.getByTestId('locked-scans').count()).toBe(0);
  await page.close();
  await tab.reload();
  await tab.getByRole('button', { name: 'Take it LIVINGTAB001' }).waitFor();
});

runs('a number that is scanned at the login page of a station is kept for whoever logs in', async () => {
  const page = await atWork({
    device: { labels: 'off', hasSound: false, station: 'Dock 9', isNamed: true },
  });
  await logOut(page);
  const name = page.getByLabel('User name');
  await name.focus();
  await scan(page, '1Z999AA10123456784');
  await page.getByText('Scanned before the login: 1.').waitFor();
  expect(await name.inputValue()).toBe('');
  expect(await page.getByRole('alert').count()).toBe(0);
  await logIn(page, 'warehouse', DEMO.password);
  await page.getByRole('button', { name: 'Take it 1Z999AA10123456784' }).waitFor();
});
