import { describe, expect } from '@jest/globals';
import { matching } from '../../support/assertions/matching.js';
import type { Page } from 'playwright-core';
import { DEMO } from '../../../fixtures/demo/seed.js';
import { logIn, openStation, outcomeOf, scan, type } from '../../support/console/browser.js';
import { consoleSuite, weightsOf } from '../../support/console/suite.js';

// Two people weigh one parcel, one of them without a connection. The earlier scan counts, and both see both weights.

const { atWork, runs, service } = consoleSuite({ worksOffline: true });

async function stationOf(user: string, language = 'en'): Promise<Page> {
  const page = await atWork({
    user,
    device: { labels: 'off', hasSound: false, language, station: `Dock of ${user}`, isNamed: true },
  });
  if (user === 'manager') await openStation(page);
  return page;
}

const storedWeight = async (number: string) => (await weightsOf(service(), number))[0];

async function weigh(page: Page, code: string, weight: string, word: RegExp): Promise<void> {
  await scan(page, code);
  await outcomeOf(page)
    .filter({ hasText: /UNKNOWN|WEIGH|DESCONOCIDO|PESE|PESAR/ })
    .waitFor();
  await type(page, weight);
  await page.keyboard.press('Enter');
  await outcomeOf(page).filter({ hasText: word }).waitFor();
}

const attentionOf = (page: Page) => page.getByTestId('attention');

async function logInAgain(page: Page, user: string): Promise<void> {
  await page.getByRole('button', { name: /Account/ }).click();
  await page.getByRole('button', { name: 'Log out' }).click();
  await logIn(page, user, DEMO.password);
  await page.locator('.workplace').waitFor();
}

/** The page opens the list. */
const openList = (page: Page) => attentionOf(page).locator('summary').click();

describe('a parcel that was weighed twice', () => {
  runs('is listed for both users with both weights, and the history has the change', async () => {
    const [early, late] = [await stationOf('warehouse'), await stationOf('manager')];
    await early.context().setOffline(true);
    await weigh(early, 'TWICEWEIGHED1', '9.5', /SAVED/);
    await weigh(late, 'TWICEWEIGHED1', '3.3', /NO OWNER/);
    await early.context().setOffline(false);
    await outcomeOf(early).filter({ hasText: 'TWO WEIGHTS' }).waitFor();
    await openList(early);
    await attentionOf(early)
      .getByText(
        /^9\.50 lb: Demo Warehouse, Dock of warehouse, .+ 3\.30 lb: Demo Manager, Dock of manager, .+ 9\.50 lb is stored\./,
      )
      .waitFor();
    expect(await storedWeight('TWICEWEIGHED1')).toBe(9.5);

    await logInAgain(late, 'manager');
    await openList(late);
    await attentionOf(late)
      .getByText(
        /^9\.50 lb: Demo Warehouse, Dock of warehouse, .+ 3\.30 lb: Demo Manager, Dock of manager, .+ 9\.50 lb is stored\./,
      )
      .waitFor();
    const row = late.getByRole('row').filter({ hasText: 'TWICEWEIGHED1' });
    expect(await row.innerText()).toMatch(/TWO WEIGHTS[^]*9\.50 lb not 3\.30 lb/);

    // The list has a button for the correction, which begins with the stored weight.
    await attentionOf(late).getByRole('button', { name: 'Correct TWICEWEIGHED1' }).click();
    const dialog = late.getByRole('dialog', { name: 'Correct a parcel' });
    expect(await dialog.getByLabel('Weight (lb)').inputValue()).toBe('9.5');
    await late.keyboard.press('Escape');

    // What a person has seen does not come back.
    await attentionOf(late).getByRole('button', { name: 'Dismiss TWICEWEIGHED1' }).click();
    await logInAgain(late, 'manager');
    await row.waitFor();
    await late.waitForLoadState('networkidle');
    expect(await attentionOf(late).count()).toBe(0);

    await late.getByRole('link', { name: 'Find' }).first().click();
    await late.getByRole('heading', { level: 1, name: 'Find' }).waitFor();
    await scan(late, 'TWICEWEIGHED1');
    await late
      .getByText('The weight changed from 3.30 lb to 9.50 lb: an earlier scan of Demo Warehouse')
      .waitFor();
  });

  runs('is corrected from the list at once, which then names the new weight too', async () => {
    const [early, late] = [await stationOf('warehouse'), await stationOf('manager')];
    await early.context().setOffline(true);
    await weigh(early, 'TWICEWEIGHED4', '9.5', /SAVED/);
    await weigh(late, 'TWICEWEIGHED4', '3.3', /NO OWNER/);
    await early.context().setOffline(false);
    await outcomeOf(early).filter({ hasText: 'TWO WEIGHTS' }).waitFor();
    await openList(early);
    await attentionOf(early).getByRole('button', { name: 'Correct TWICEWEIGHED4' }).click();
    await type(early, '5');
    await early.keyboard.press('Enter');
    await outcomeOf(early).filter({ hasText: 'CORRECTED' }).waitFor();
    await early
      .getByTestId('queue')
      .filter({ hasText: /^Sent$/ })
      .waitFor();
    await attentionOf(early)
      .getByText(/^9\.50 lb: .+ 3\.30 lb: .+ 5\.00 lb is stored\./)
      .waitFor();
    expect(await storedWeight('TWICEWEIGHED4')).toBe(5);
  });

  runs(
    'is told in Spanish on a Spanish device, also in the history and of a correction that is too late',
    async () => {
      const [early, late] = [await stationOf('warehouse', 'es'), await stationOf('manager', 'es')];
      await weigh(early, 'TWICEWEIGHED5', '3.3', /SIN DUEÑO/);
      await late.context().setOffline(true);
      await weigh(late, 'TWICEWEIGHED5', '3.3', /GUARDADO/);
      await late.keyboard.press('F2');
      await late.getByRole('dialog').waitFor();
      await type(late, '6');
      await late.keyboard.press('Enter');
      await late.context().setOffline(false);
      const failed = late.locator('.notices [role=alert]');
      await failed.waitFor();
      expect(await failed.innerText()).toMatch(/TWICEWEIGHED5.+ya se recibió/);

      await early.context().setOffline(true);
      await weigh(early, 'TWICEWEIGHED6', '9.5', /GUARDADO/);
      await weigh(late, 'TWICEWEIGHED6', '3.3', /SIN DUEÑO/);
      await early.context().setOffline(false);
      await outcomeOf(early).filter({ hasText: 'DOS PESOS' }).waitFor();
      // The wording of remarks may change.
      await early.route('**/api/PackageEvents.php*', async (route) => {
        const response = await route.fetch();
        await route.fulfill({
          response,
          body: (await response.text()).replaceAll('from 3.3 lb to', '3.3 →'),
        });
      });
      await early.getByRole('link', { name: 'Buscar' }).first().click();
      await early.getByRole('heading', { level: 1, name: 'Buscar' }).waitFor();
      await scan(early, 'TWICEWEIGHED6');
      const history = early.locator('.timeline');
      await history.getByText(/El peso cambió de 3[.,]30 lb a 9[.,]50 lb/).waitFor();
      expect(await history.innerText()).not.toMatch(
        matching(/weight|earlier|arrived/i, 'The weight', 'an earlier scan', 'it arrived'),
      );
    },
  );

  runs('is listed for a user whose weight does not count, in Spanish too', async () => {
    const [late, early] = [await stationOf('warehouse', 'es'), await stationOf('manager')];
    await weigh(early, 'TWICEWEIGHED2', '3.3', /NO OWNER/);
    await late.context().setOffline(true);
    await weigh(late, 'TWICEWEIGHED2', '4.4', /GUARDADO/);
    await late.context().setOffline(false);
    await outcomeOf(late).filter({ hasText: 'DOS PESOS' }).waitFor();
    await openList(late);
    await attentionOf(late)
      .getByText(/^3[.,]30 lb: Demo Manager.+ 4[.,]40 lb: Demo Warehouse.+ Está guardado 3[.,]30 lb\./)
      .waitFor();
    expect(await storedWeight('TWICEWEIGHED2')).toBe(3.3);
  });

  runs('shows the stored weight when it is scanned again', async () => {
    const page = await stationOf('warehouse');
    await weigh(page, 'TWICEWEIGHED3', '12.39', /NO OWNER/);
    expect(await page.getByTestId('outcome').innerText()).toMatch(/TWICEWEIGHED3 · 12\.39 lb · \w{7}/);
    await scan(page, 'OTHERPARCEL01');
    await outcomeOf(page).filter({ hasText: 'UNKNOWN' }).waitFor();
    await page.keyboard.press('Escape');
    await scan(page, 'TWICEWEIGHED3');
    await outcomeOf(page).filter({ hasText: 'ALREADY RECEIVED' }).waitFor();
    expect(await page.getByTestId('outcome').innerText()).toContain('12.39 lb');
  });
});
