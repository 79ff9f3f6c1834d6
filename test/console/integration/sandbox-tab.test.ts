import { expect } from '@jest/globals';
import { DEMO } from '../../../fixtures/demo/demo.js';
import { findingsOf, logIn } from '../../support/console/browser.js';
import { consoleSuite } from '../../support/console/suite.js';
import { makeSandbox } from '../../support/fixture/sandboxes.js';
import { livesOf } from '../../modules/sandboxes/lives/lives-calls.js';

// The sandbox of a courier on the pages of the staff, and the lives in it.

const { atWork, open, runs, service } = consoleSuite();

const WIDE = 'document.documentElement.scrollWidth > innerWidth';

runs('a manager makes a sandbox for a courier, whose token works, and ends it', async () => {
  const page = await atWork({ user: 'manager' });
  await page.goto(`${service().url}/console/couriers/HRB/sandbox`);
  await page.getByText('The courier has no sandbox.').waitFor();
  await page.getByRole('button', { name: 'Make a sandbox' }).click();
  await page.getByText('Store the key and the token now').waitFor();
  await page.getByText('No life has started.').waitFor();
  const { body } = await service().call('getSandbox', { as: 'hrb' });
  const path = String(body['data'].sandbox.base_path);
  await page.getByText(service().url + path).waitFor();
  // Credentials are shown once.
  await page.reload();
  await page.getByText('No life has started.').waitFor();
  expect(await page.getByRole('region', { name: 'Service token of the sandbox' }).count()).toBe(0);
  await page.getByRole('button', { name: 'End the sandbox' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End the sandbox' }).click();
  await page.getByText('The courier has no sandbox.').waitFor();
  expect((await service().call('getSandbox', { as: 'hrb' })).body['data'].sandbox).toBeNull();
});

runs('staff and the courier see how far lives are, and which number starts none', async () => {
  const sandbox = await makeSandbox(service());
  const lives = livesOf(service(), sandbox);
  await lives.manage({ action: 'set_speed', speed: 0 });
  await lives.announce('LIFE-HAPPY-1');
  await lives.announce('LIFE-HOLD-2');
  await lives.advance('LIFE-HAPPY-1', 2);
  const page = await atWork({ user: 'admin' });
  await page.goto(`${service().url}/console/couriers/IEX/sandbox`);
  const row = page.getByRole('row', { name: 'LIFE-HAPPY-1' });
  await row.getByText('1 of 9').waitFor();
  await row.getByText('Put away').waitFor();
  await page.getByText('The clock of the sandbox stands still at').waitFor();
  expect(await page.getByTestId('misspelled').count()).toBe(0);

  await lives.announce('LIFE-HAPY-3');
  await page.getByRole('button', { name: 'Look again' }).click();
  await page.getByTestId('misspelled').getByText('LIFE-HAPY-3').waitFor();
  expect(await findingsOf(page)).toEqual([]);

  const courier = await atWork({ user: 'iex' });
  await courier.evaluate("location.hash = '#/developers'");
  await courier.getByRole('button', { name: 'Sandbox …' }).click();
  await courier.getByTestId('misspelled').getByText('LIFE-HAPY-3').waitFor();
  await courier.getByRole('row', { name: 'LIFE-HOLD-2' }).getByText('1 of 8').waitFor();
  expect(await findingsOf(courier)).toEqual([]);
});

runs(
  'the tab and the dialog fit on a phone, in Spanish and in the dark, without a finding of axe',
  async () => {
    const lives = livesOf(service(), await makeSandbox(service()));
    await lives.announce('LIFE-HAPY-1');
    await lives.announce('LIFE-DISPUTED-1');
    await lives.advance('LIFE-DISPUTED-1', 3);
    for (const user of ['admin', 'iex']) {
      const { page } = await open({ width: 390, colorScheme: 'dark', locale: 'es-ES', isQuiet: false });
      await logIn(page, user, DEMO.password);
      await page.locator('.workplace').waitFor();
      if (user === 'admin') await page.goto(`${service().url}/console/couriers/IEX/sandbox`);
      else {
        await page.evaluate("location.hash = '#/developers'");
        await page.getByRole('button', { name: 'Entorno de pruebas …' }).click();
      }
      await page.getByTestId('misspelled').getByText('parecen mágicos').waitFor();
      await page.getByText('1 de 7').waitFor();
      expect(await page.evaluate(WIDE)).toBe(false);
      expect(await findingsOf(page)).toEqual([]);
    }
  },
);
